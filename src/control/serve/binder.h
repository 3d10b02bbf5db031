// Binder: binds a pod to a node for kube-scheduler, and answers success only when the pod is there.
//
// It binds only pods that name one of the configured schedulers, or the one that the webhook
// writes, and have the same uid, to a node that exists, has the GPUs that the pod asks for, is not
// cordoned and has no taint that the pod does not tolerate. Data of the pod that the cache lacks
// are read from the API server: everything of a new pod, the tolerations of one without GPUs. While
// the cache is not trusted, nodes are not judged: kube-scheduler did that. Shares that only
// Slackline counts are booked first (share_account.h).
//
// The API server's answer to the Binding decides only if it is a plain success; else the pod is
// read, and its node and uid decide. No answer reveals a uid.
//
// Each call to the API server has a share of the time that is left, so that a hanging write leaves
// time to check whether the pod is bound. Once the time is over there are no further calls.
//
// Thread-safe: blocks for as long as the API server does, until its time is over.
#pragma once

#include <string>
#include <vector>

#include "cluster/watch/source.h"
#include "control/serve/share_account.h"
#include "slackline/base/clock.h"
#include "slackline/base/published.h"
#include "slackline/model/extender_messages.h"
#include "slackline/model/mode.h"

namespace slackline::control {

struct Settings;

struct BinderOptions {
  Mode mode = Mode::kAdvise;
  std::vector<std::string> scheduler_names;       // of the kube-schedulers that call it; empty: any
  const Published<Settings>* settings = nullptr;  // which one the webhook writes; null: none
};

// How a call ended, and under which name it is counted.
struct BindOutcome {
  BindReply reply;
  std::string counted;
  bool late = false;  // it ended with an Error, and its time was over
};

class Binder {
 public:
  // `writer` is null where the cluster source is read-only: then bind answers an error. All
  // outlive it.
  Binder(BinderOptions options, const cluster::ClusterSource& source,
         cluster::ClusterWriter* writer, ShareAccount& shares, const Clock& clock);

  // `until_s`: when its time is over, on the steady clock.
  BindOutcome bind(const BindRequest& request, double until_s);

 private:
  BindOutcome attempt(const BindRequest& request, double until_s);
  Result<PodPtr> find_pod(const BindRequest& request, const ClusterSnapshot& snapshot,
                          double until_s);
  bool is_ours(const std::string& scheduler) const;
  Status judge(const Pod& pod, const NodeName& node, const ClusterSnapshot& snapshot) const;
  BindOutcome perform(const BindRequest& request, const Pod& pod, const ClusterSnapshot& snapshot,
                      const std::vector<DeviceSlots>& slots, double until_s);
  BindOutcome confirm_binding(const BindRequest& request, const Pod& pod, const Error& error,
                              double until_s);
  Result<PodBinding> read_pod(const ObjectKey& pod, double timeout_s);
  double left_s(double until_s) const { return until_s - clock_.steady_s(); }
  void end_booking(const Pod& pod, const NodeName& node, ShareAccount::Ending ending);

  const BinderOptions options_;
  const cluster::ClusterSource& source_;
  cluster::ClusterWriter* const writer_;
  ShareAccount& shares_;
  const Clock& clock_;
};

}  // namespace slackline::control

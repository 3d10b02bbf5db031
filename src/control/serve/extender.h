// Extender: the four verbs of kube-scheduler's extender protocol, from one immutable snapshot each.
//
// filter, prioritize and preempt are pure in effect: they read the snapshot and what is known of
// models, each taken once per request, decide with core functions and leave a journal row in a
// bounded queue; no API call, no disk, no lock over I/O. bind is the one verb that writes
// (binder.h).
//
// shadow mode decides and journals everything, and lets kube-scheduler go its own way: filter
// passes all, prioritize scores nothing, preempt echoes its input, bind is performed.
//
// A verb whose time is over (DecisionOptions::verb_time_s) answers what stops nobody: filter passes
// all, or answers an error for resources that only Slackline counts; prioritize scores nothing;
// preempt echoes its input; bind, unless the pod was seen bound, an error. It is counted.
//
// Thread-safe: any verb from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/learn/known.h"
#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"
#include "slackline/base/published.h"
#include "slackline/base/stop.h"
#include "slackline/model/decision.h"
#include "slackline/model/extender_messages.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/mode.h"
#include "slackline/model/snapshot.h"

namespace slackline::cluster {
class ClusterSource;
class ClusterWriter;
}  // namespace slackline::cluster
namespace slackline::core {
struct Pool;
struct PortraitBook;
struct Situation;
}  // namespace slackline::core

namespace slackline::control {

class Binder;
class DecisionLog;
class ShareAccount;
struct PlannerView;
struct WrittenBook;
struct Settings;

// The share of httpTimeout for the verb itself; the rest is for the network.
inline constexpr double kShareOfTimeout = 0.8;

// The input of the verbs, besides the known models.
struct DecisionOptions {
  Mode mode = Mode::kAdvise;
  GpuCatalog catalog;
  const Published<Settings>* settings = nullptr;             // what may change; null: the defaults
  const Published<core::PortraitBook>* portraits = nullptr;  // null: no family's past is known
  std::vector<std::string> scheduler_names;  // whose pods are bound; empty: anybody's
  // Since when this replica counts shares (share_account.h); null: no Lease says who does.
  std::function<Result<double>()> share_term;
  double verb_time_s = 1.6;  // for each verb, waiting for a thread and decoding included
  // Who knows which nodes are slow; null: nobody.
  const Published<PlannerView>* planner = nullptr;
  // Where the webhook reads how shares are used; null: it says nothing of them.
  const Published<WrittenBook>* books = nullptr;

  core::Situation situation(const Known& known, const cluster::ClusterSource& source,
                            const Clock& clock) const;
  double theta() const;             // 000 eq 10, as it is now
  std::string fingerprint() const;  // names mode and catalogue in the journal
};

class Extender {
 public:
  // `writer` is null where the cluster source is read-only: then bind answers an error.
  Extender(const DecisionOptions& options, const Published<Known>& known,
           cluster::ClusterSource& source, cluster::ClusterWriter* writer, DecisionLog& log,
           const Clock& clock);
  ~Extender();

  // For decoding: a request that was read by them is answered without looking its nodes up.
  std::shared_ptr<const NodeNames> node_names() const;

  // `received_s`: when the request was there, on the steady clock; nullopt: now.
  FilterReply filter(const NodesRequest& request, std::optional<double> received_s = {});
  PrioritizeReply prioritize(const NodesRequest& request, std::optional<double> received_s = {});
  PreemptReply preempt(const PreemptRequest& request, std::optional<double> received_s = {});
  BindReply bind(const BindRequest& request, std::optional<double> received_s = {});

 private:
  core::Situation situation(const Known& known) const;
  // Whether the time of a verb is over.
  StopAsked late_after(double received_s) const;
  DecisionRow row_for(Verb verb, const ClusterSnapshot& snapshot, const Known& known,
                      const Pod& pod, std::size_t nodes_asked) const;

  std::shared_ptr<const std::vector<core::Pool>> pools_of(const ClusterSnapshot& snapshot);

  const DecisionOptions& options_;
  const std::string options_hash_;
  const Published<Known>& known_;
  const cluster::ClusterSource& source_;
  DecisionLog& log_;
  const Clock& clock_;
  const std::unique_ptr<ShareAccount> shares_;
  const std::unique_ptr<Binder> binder_;

  Mutex pools_mutex_;
  std::shared_ptr<const std::vector<core::Pool>> pools_ SLACKLINE_GUARDED_BY(pools_mutex_);
  std::uint64_t pools_version_ SLACKLINE_GUARDED_BY(pools_mutex_) = 0;
};

}  // namespace slackline::control

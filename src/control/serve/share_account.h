// ShareAccount: the account of GPU shares that only Slackline counts (selfAccounted), for filter
// and bind: those in a snapshot, and Slackline's bindings that it does not show yet
// (core/cluster/binds_in_flight.h).
//
// The account is part of one process. With a Lease only one replica assigns shares: the one whose
// kube-scheduler next to it holds kube-scheduler's (extender.schedulerLease), else the holder of
// the planner's (active mode). A new one does only after it has listed the pods again, one bind
// timeout after its term began: this list has the bindings of the one before. Without a Lease a
// single daemon serves such a profile.
//
// Thread-safe. The lock is held for the account only, never over a call to the API server.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"
#include "slackline/base/result.h"
#include "slackline/core/cluster/binds_in_flight.h"

namespace slackline::cluster {
class ClusterSource;
}

namespace slackline::control {

// The longest wait for the answer to a Binding, whatever the httpTimeout is.
inline constexpr double kLongestBinding_s = 2;
// That, and what the API server may do after it.
inline constexpr double kBindTimeout_s = 5;

class ShareAccount {
 public:
  // Since when this replica is the one that assigns shares, on the steady clock; or why it is not.
  using Term = std::function<Result<double>()>;

  // `term` is null where no Lease says who does. All outlive it.
  ShareAccount(const GpuCatalog& catalog, cluster::ClusterSource& source, Term term,
               const Clock& clock);

  // Whether the pod asks for anything that is counted here.
  bool concerns(const Pod& pod) const;
  // Whether any pod could.
  bool has_rules() const;

  // Why this process may give no share away now; empty: it may.
  std::string refusal();

  // The input of a filter: a snapshot, and the shares assigned to other pods that it does not show.
  struct View {
    SnapshotPtr snapshot;
    std::vector<core::TakenShares> taken;
  };
  View view(const Uid& pod);

  // Books the pod's shares of the node, or says why not. Gives the slots, where there is a choice.
  Result<std::vector<DeviceSlots>> book(const Pod& pod, const NodeName& node);
  // How a booked binding ended.
  enum class Ending { kBound, kFailed, kDoubtful };
  void ended(const Pod& pod, const NodeName& node, Ending ending);

 private:
  // Settles with the newer one of `snapshot` and the last, and returns that.
  const SnapshotPtr& settle(SnapshotPtr snapshot) SLACKLINE_REQUIRES(mutex_);
  std::string refusal_of_term(double since_s);

  const GpuCatalog& catalog_;
  cluster::ClusterSource& source_;
  const Term term_;
  const Clock& clock_;

  Mutex mutex_;
  core::BindsInFlight binds_ SLACKLINE_GUARDED_BY(mutex_);
  SnapshotPtr settled_ SLACKLINE_GUARDED_BY(mutex_);
  double asked_term_s_ SLACKLINE_GUARDED_BY(mutex_) = -1;  // for which a list was asked
};

}  // namespace slackline::control

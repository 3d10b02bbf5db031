// RecentAdmissions: tasks that were admitted and are not in the snapshot yet, so that a burst
// cannot slip past a queue's limit. A task is forgotten once the snapshot shows it, or after
// kForgotten_s.
//
// A client of the listener could keep a queue full with reviews of objects that never appear. So
// after an admission that never appeared, its namespace gets no such credit for kDistrusted_s: its
// tasks count once the snapshot shows them. With kMostDistrusted such namespaces none gets it.
// Memory is bounded by kMostKept.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "slackline/base/mutex.h"
#include "slackline/model/queue_rules.h"
#include "slackline/model/snapshot.h"

namespace slackline::control {

// A task that waits in a queue: a Job, a bare pod, a labelled gang of bare pods, or one that a
// controller makes.
struct WaitingTask {
  std::string kind;  // "Job", "Pod", "Gang" or that of the gang's controller
  ObjectKey key;

  bool is_gang() const { return kind != "Job" && kind != "Pod"; }

  friend auto operator<=>(const WaitingTask&, const WaitingTask&) = default;
};

// For a Job, and for a pod without a controller or of one that makes gangs.
WaitingTask waiting_task_of(const Job& job);
WaitingTask waiting_task_of(const Pod& pod);

class RecentAdmissions {
 public:
  static constexpr double kForgotten_s = 2;
  static constexpr double kDistrusted_s = 600;
  static constexpr std::size_t kMostDistrusted = 16;
  static constexpr std::size_t kMostKept = 4096;

  // By its name, and the rules by which tasks are counted for it.
  struct Account {
    const std::string& name;
    const QueueRulebook& rules;
  };

  // Tasks of the account that wait: Jobs with GPUs that Slackline suspended, and bare pods and
  // gangs behind its gate, in the snapshot, and what was admitted since. `asking` is not counted. 0
  // where it is a gang that is there already: half a gang is of no use, so its other pods may come.
  std::int64_t waiting_in(const Account& account, const ClusterSnapshot& snapshot,
                          const WaitingTask& asking, double now_steady_s);

  // `moved`: it was there before, in another queue.
  void note(const std::string& account, const WaitingTask& task, bool moved, double now_steady_s);

 private:
  struct Admitted {
    std::string account;
    WaitingTask task;
    bool moved = false;
    double at_s = 0;
  };

  static bool is_shown(const Admitted& admitted, const QueueRulebook& rules,
                       const ClusterSnapshot& snapshot);
  void forget(const QueueRulebook& rules, const ClusterSnapshot& snapshot, double now_s)
      SLACKLINE_REQUIRES(mutex_);
  bool has_credit(const std::string& ns) const SLACKLINE_REQUIRES(mutex_);

  Mutex mutex_;
  std::deque<Admitted> admitted_ SLACKLINE_GUARDED_BY(mutex_);  // oldest first
  // Namespaces without credit, and until when.
  std::map<std::string, double> distrusted_ SLACKLINE_GUARDED_BY(mutex_);
};

}  // namespace slackline::control

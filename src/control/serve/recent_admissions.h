// RecentAdmissions: Jobs that were admitted and are not in the snapshot yet, so that a burst cannot
// slip past a queue's limit. What the snapshot shows, or what two seconds have passed over, is
// forgotten.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slackline/base/mutex.h"
#include "slackline/model/snapshot.h"

namespace slackline::control {

class RecentAdmissions {
 public:
  // Jobs that wait in the queue: those with GPUs that we suspended in the snapshot, and what was
  // admitted since. `except` is not counted.
  std::int64_t waiting_in(const std::string& queue, const ClusterSnapshot& snapshot,
                          const ObjectKey& except, double now_steady_s);

  void note(const std::string& queue, const ObjectKey& job, double now_steady_s);

 private:
  struct Admitted {
    std::string queue;
    ObjectKey job;
    double at_s = 0;
  };

  Mutex mutex_;
  std::vector<Admitted> admitted_ SLACKLINE_GUARDED_BY(mutex_);  // oldest first
};

}  // namespace slackline::control

// Backoff: how long to wait before the next try, as client-go's reflector does.
//
// Doubles from min to max; each wait is stretched by a random factor in [1, 2), so that restarted
// clients do not come in step. After a try that lived for `healthy_reset_s` it starts again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "cluster/watch/kube_source.h"

namespace slackline::cluster {

class Backoff {
 public:
  Backoff(const WatchTimers& timers, std::uint64_t seed)
      : timers_(timers), random_(seed), step_s_(timers.backoff_min_s) {}

  // After a try that lasted lived_s. `urgent`: the first one does not wait.
  double next_s(double lived_s, bool urgent) {
    if (lived_s >= timers_.healthy_reset_s) {
      step_s_ = timers_.backoff_min_s;
      fresh_ = true;
    }
    const bool now = fresh_ && (urgent || lived_s >= timers_.healthy_reset_s);
    fresh_ = false;
    if (now) return 0;
    const double wait_s = step_s_ * uniform(1, 2);
    step_s_ = std::min(2 * step_s_, timers_.backoff_max_s);
    return wait_s;
  }

  double uniform(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }

 private:
  const WatchTimers timers_;
  std::mt19937_64 random_;
  double step_s_;
  bool fresh_ = true;
};

}  // namespace slackline::cluster

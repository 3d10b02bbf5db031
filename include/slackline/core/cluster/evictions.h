// Evictions: what is remembered of the pods that were evicted for other tasks, since nothing of
// them is left in the cluster. A leader that begins anew has forgotten it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "slackline/core/planning/loss_accounts.h"
#include "slackline/model/ids.h"

namespace slackline::core {

struct Evictions {
  struct Eviction {
    Uid controller;     // that replaced the pod
    std::string queue;  // that pays for what was lost
    double at_s = 0;    // epoch seconds
    double lost_gpu_s = 0;
  };
  std::vector<Eviction> done;       // of the last day, in order of time
  std::unordered_set<Uid> refused;  // Jobs and pods that the API server would not stop a moment ago

  // Of pods of this controller, within a day.
  std::int64_t count(const Uid& controller, double now_wall_s) const {
    return std::count_if(done.begin(), done.end(), [&](const Eviction& each) {
      return each.controller == controller && each.at_s > now_wall_s - kAccountedFor_s;
    });
  }
};

}  // namespace slackline::core

// What each run uses of its queue's share, in the order of the starts: for people, and for the
// choice of whom to stop so that an owner has his GPUs back. What a queue may use is decided by
// sums alone (shares.h).
#pragma once

#include <cstdint>
#include <vector>

#include "slackline/core/planning/plan_state.h"

namespace slackline::core {

// GPUs of one run. It takes what is left: of its queue's own, then borrowed, as far as others leave
// theirs idle, then of the pool.
struct ShareParts {
  std::int64_t own = 0;
  std::int64_t borrowed = 0;
  std::int64_t of_pool = 0;
};

// By task; all 0 where it does not run, or on GPUs that nobody has a share of. O(running).
std::vector<ShareParts> share_parts(const PlanState& state);

}  // namespace slackline::core

// disown: the writes that remove what does not count. Plans that nobody believes (PlanDoubt) are
// taken away, whether their Jobs run or not; so is the plan of a Job that somebody suspends,
// without a word. Objects that are held back in a namespace that Slackline does not manage (any
// more) are returned to the scheduler (core/handover/return_to_scheduler.h).
//
// At most `at_most` at once, so that many such objects do not keep the planner from its work. The
// choice moves on with the snapshot's version, so that one that is refused again and again does not
// hold up the others. Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "slackline/model/own_write.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

inline constexpr std::size_t kMostDisowned = 64;

std::vector<OwnWrite> disown(const ClusterSnapshot& snapshot, double now_steady_s,
                             std::size_t at_most = kMostDisowned);

}  // namespace slackline::core

// disown: the writes that end what does not count. Plans that nobody believes (PlanDoubt) are taken
// away, whether their Jobs run or not. What is held back in a namespace that is not in our care
// (any more) is let go, as by core/cluster/let_go.h.
//
// Not more than `at_most` at once: whoever makes many such objects does not keep the planner from
// its own. Which ones it is moves on with the snapshot's version, so that one that is refused again
// and again holds nobody up. Pure.
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

// begin_move: the writes with which a move (core/cluster/moves.h) begins: each run is stopped as a
// whole, with its checkpoints kept, and its new place is kept for it (Queue::going_on) until its
// pods are gone and it is released there. Pure; times are epoch seconds.
#pragma once

#include <vector>

#include "slackline/core/cluster/moves.h"
#include "slackline/model/own_write.h"

namespace slackline::core {

// Not together with other stops of the same snapshot, which would use up the same budgets.
std::vector<OwnWrite> begin_move(const Queue& queue, const Move& move, double now_wall_s);

}  // namespace slackline::core

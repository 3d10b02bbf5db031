// The stops of Jobs that others take pods from (disrupted_jobs.h): each is suspended as a whole,
// and its note counts the stop and tells what its checkpoints keep.
#pragma once

#include <vector>

#include "slackline/core/cluster/queue.h"
#include "slackline/model/own_write.h"

namespace slackline::core {

// Times are epoch seconds.
std::vector<OwnWrite> stop_disrupted(const Queue& queue, double now_wall_s);

}  // namespace slackline::core

// What right-sizing makes of a task of the queue.
#pragma once

#include "slackline/core/cluster/queue.h"

namespace slackline::core {

// The request of a Job that waits suspended: as advised, where that is applied. A run keeps what it
// was given. One that keeps its place goes on there, in the shape that is kept.
void resize(QueueTask& task, const Resizer& resizer, bool keeps_place);

}  // namespace slackline::core

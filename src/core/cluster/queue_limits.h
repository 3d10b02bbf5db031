// maxPending for what no webhook admitted: created while none answered, or with a proof that is not
// ours. What was admitted was counted then.
#pragma once

#include <vector>

#include "slackline/core/cluster/queue.h"

namespace slackline::core {

// Gives the waiting tasks that nobody admitted and that are over the limit of their queue the
// hindrance NotAdmitted. They come behind all that was admitted, in the order of `tasks`; what has
// run once keeps its place.
void hold_to_limits(std::vector<QueueTask>& tasks, const QueueRulebook* queues);

}  // namespace slackline::core

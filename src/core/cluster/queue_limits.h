// maxPending for tasks that no webhook admitted: created while none answered, or with a proof that
// is not Slackline's. Admitted tasks were counted then.
#pragma once

#include <vector>

#include "slackline/core/cluster/queue.h"

namespace slackline::core {

// Gives the waiting tasks that nobody admitted and that are over the limit of their queue the
// hindrance NotAdmitted. They come behind all admitted tasks, in the order of `tasks`; tasks that
// have run once keep their place.
void hold_to_limits(std::vector<QueueTask>& tasks, const QueueRulebook* queues);

}  // namespace slackline::core

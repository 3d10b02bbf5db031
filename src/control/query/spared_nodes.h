// spared_nodes: which GPUs of a node are in runs that are not stopped for others.
#pragma once

#include <vector>

#include "message/queue_view.h"
#include "message/views.h"

namespace slackline::control {

// Tells each occupant what the row of its run says of it; `rows` of the whole queue, so pods of
// none of them run without a plan.
void tell_spared(const std::vector<QueueRow>& rows, std::vector<ListedNode>& nodes);

}  // namespace slackline::control

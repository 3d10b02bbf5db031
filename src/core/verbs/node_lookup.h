// Requested names to node indices, many at once. Private to src/core.
#pragma once

#include <vector>

#include "slackline/core/verbs/measure.h"
#include "slackline/model/extender_messages.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

// The index of each name, kUnknownNode where the snapshot has no such node; indices that the
// decoder found in the names of the same snapshot are used. A pass of its own, because independent
// lookups overlap their cache misses.
std::vector<NodeIndex> find_nodes(const ClusterSnapshot& snapshot, const NodesRequest& request);

}  // namespace slackline::core

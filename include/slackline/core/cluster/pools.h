// The pools of GPUs that a cluster has (core/planning/cost.h).
#pragma once

#include <vector>

#include "slackline/core/planning/cost.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

// Its GPUs are counted: it is ready, not cordoned, and nothing of it is unreadable.
bool is_usable(const Node& node);

// Every pool of the cluster, sorted by (type, resource). O(nodes): compute it once per snapshot.
std::vector<Pool> derive_pools(const ClusterSnapshot& snapshot, const GpuCatalog& catalog);

}  // namespace slackline::core

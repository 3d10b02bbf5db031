// The pools of GPUs that a cluster has (core/planning/cost.h).
#pragma once

#include <memory>
#include <vector>

#include "slackline/core/planning/cost.h"
#include "slackline/core/planning/free_gpus.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

// Its GPUs are counted: it is ready, not cordoned, and nothing of it is unreadable.
bool is_usable(const Node& node);

// Every pool of the cluster, sorted by (type, resource). O(nodes): compute it once per snapshot.
std::vector<Pool> derive_pools(const ClusterSnapshot& snapshot, const GpuCatalog& catalog);

// The nodes of a pool, in the order of the snapshot.
struct QueuePool {
  Pool pool;
  std::vector<NodeIndex> nodes;
};

std::vector<QueuePool> find_pools(const ClusterSnapshot& snapshot, const GpuCatalog& catalog);

// Which nodes of the pools are near each other (Node::blocks); null: none of them says so.
std::shared_ptr<const NodeBlocks> find_blocks(const ClusterSnapshot& snapshot,
                                              const std::vector<QueuePool>& pools);

}  // namespace slackline::core

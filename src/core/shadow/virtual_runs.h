// Parts of a virtual cluster (core/shadow/virtual_cluster.h) that need no memory.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "slackline/core/cluster/queue.h"
#include "slackline/core/shadow/real_runs.h"

namespace slackline::core {

using PodFilter = std::function<bool(const PodPtr&)>;

// The node with some of its pods.
NodeStatePtr only(const NodeState& state, const PodFilter& kept);
// Equal nodes with the same pods.
bool is_same_ground(const NodeState& a, const NodeState& b);

// The pods of a Job that runs by its plan: one for each node in it.
std::vector<PodPtr> pods_of(const Job& job, const std::string& resource, std::int64_t gpus,
                            double started_s);
// Pods of missing nodes are left out. The nodes stay in their order.
void add_pods(ClusterSnapshot& snapshot, const std::vector<PodPtr>& pods);

// The predicted run time as planned, over the one where it really runs. 1 if the models do not know
// both, or its real pods differ.
double length_ratio(const Job& job, const PlanNote& plan, const RealRun& real,
                    const QueueOptions& options);

}  // namespace slackline::core

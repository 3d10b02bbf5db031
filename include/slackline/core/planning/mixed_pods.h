// MixedPods: a task whose pods differ, and the room for it.
//
// The largest pod is placed first, each by best fit, on nodes that it may use itself. The placement
// of such a task (Choice::shape) is its GPUs in units that all pods are multiples of; a run names a
// node once for each unit, pod after pod. Where room is to be made by stops or moves, the pods
// count as if all were as large as the largest, on nodes that all may use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slackline/core/planning/plan_state.h"
#include "slackline/model/constraints.h"

namespace slackline::core {

// Equal ones.
struct PodGroup {
  std::int64_t pods = 1;
  int gpus = 1;  // of each
  EligibleNodesPtr eligible{};
};

struct MixedPods {
  std::vector<PodGroup> groups;              // the largest first; never empty
  std::optional<std::int64_t> most_on_node;  // pods
};

// Pods on one node, at most: kube-scheduler may call more uneven.
std::optional<std::int64_t> most_on_node(const OwnSpread& spread);

// The shape of pods with these GPUs, at least one each.
Placement in_units(const std::vector<std::int64_t>& of_each);
// "1 of 8, 2 of 1". The largest first, as below.
std::string listed(const std::vector<std::int64_t>& of_each);
// On nodes that are empty but for them.
bool have_room(const std::vector<std::int64_t>& of_each,
               const std::vector<std::int64_t>& gpus_of_nodes,
               std::optional<std::int64_t> most_on_node);

// What FreeGpus says of tasks with equal pods, of every task.
bool may_fit(const FreeGpus& free, const PlanTask& task, const Choice& choice);
bool fits(const FreeGpus& free, const PlanTask& task, const Choice& choice);
std::vector<PoolNode> find_room(const FreeGpus& free, const PlanTask& task, const Choice& choice);

// As Run::nodes; empty: there is no room for all.
std::vector<PoolNode> pack(const FreeGpus& free, PoolIndex pool, const MixedPods& mixed,
                           int gpus_of_unit, const EligibleNodes* preferred);

// With as many pods, all as large as the largest; of equal ones the choice itself.
Choice as_if_equal(const PlanTask& task, const Choice& choice);

}  // namespace slackline::core

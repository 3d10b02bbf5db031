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
  std::optional<RestNumber> rest{};  // as PlanTask::rest
};

struct MixedPods {
  std::vector<PodGroup> groups;              // the largest first; never empty
  std::optional<std::int64_t> most_on_node;  // pods
};

// One or more pods behind those that are there, which are no smaller; equal ones are one group.
void add_pods(PodGroup pods, MixedPods& mixed);

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
// As a run on these nodes (Run::nodes) begins and ends.
void take(FreeGpus& free, const PlanTask& task, const Choice& choice,
          const std::vector<PoolNode>& nodes);
void give_back(FreeGpus& free, const PlanTask& task, const Choice& choice,
               const std::vector<PoolNode>& nodes);
// Of a run of the state.
void give_back(FreeGpus& free, const PlanState& state, TaskIndex run);
// See what its pods need besides GPUs: of which need so many are on a node.
template <class See>
void for_rest(const PlanTask& task, const std::vector<RestNeed>& needs, const Choice& choice,
              const std::vector<PoolNode>& nodes, const See& see) {
  if (!task.mixed) {
    if (!task.rest) return;
    const std::int64_t pods = needs[*task.rest].pods_with(choice.shape.d_gpn);
    for (const PoolNode node : nodes)
      see(*task.rest, node, pods);
    return;
  }
  std::size_t unit = 0;
  for (const PodGroup& group : task.mixed->groups)
    for (std::int64_t pod = 0; pod < group.pods && unit < nodes.size(); ++pod) {
      if (group.rest) see(*group.rest, nodes[unit], std::int64_t{1});
      unit += static_cast<std::size_t>(group.gpus / choice.shape.d_gpn);
    }
}

// Nodes that a task may use once runs there have ended that leave it the GPUs which it lacks, and
// those that it may use now. What it lacks besides, where the GPUs are free, no stop is for;
// whether stops leave it the rest, too, is asked of those that are chosen.
class UsableByStops {
 public:
  UsableByStops(const FreeGpus& free, const PlanTask& task, const Choice& choice);
  const EligibleNodes* nodes() const { return own_ ? &*own_ : eligible_; }  // null: every node

 private:
  const EligibleNodes* eligible_;
  std::optional<EligibleNodes> own_;
};

// As Run::nodes; empty: there is no room for all.
std::vector<PoolNode> pack(const FreeGpus& free, PoolIndex pool, const MixedPods& mixed,
                           int gpus_of_unit, const EligibleNodes* preferred);

// With as many pods, all as large as the largest; of equal ones the choice itself.
Choice as_if_equal(const PlanTask& task, const Choice& choice);

}  // namespace slackline::core

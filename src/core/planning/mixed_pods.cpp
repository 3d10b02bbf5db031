#include "slackline/core/planning/mixed_pods.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "slackline/base/saturating.h"
#include "slackline/base/text.h"

namespace slackline::core {

void add_pods(PodGroup pods, MixedPods& mixed) {
  std::vector<PodGroup>& groups = mixed.groups;
  if (!groups.empty() && groups.back().gpus == pods.gpus && groups.back().eligible == pods.eligible)
    groups.back().pods += pods.pods;
  else
    groups.push_back(std::move(pods));
}

std::optional<std::int64_t> most_on_node(const OwnSpread& spread) {
  if (!spread.most || !spread.skew) return spread.most ? spread.most : spread.skew;
  return std::min(*spread.most, *spread.skew);
}

Placement in_units(const std::vector<std::int64_t>& of_each) {
  std::int64_t unit = of_each.front();
  std::int64_t all = 0;
  for (const std::int64_t gpus : of_each) {
    unit = std::gcd(unit, gpus);
    all = saturating_add(all, gpus);
  }
  return clamped_placement(all / unit, unit);
}

std::string listed(const std::vector<std::int64_t>& of_each) {
  std::vector<std::string> parts;
  for (auto at = of_each.begin(); at != of_each.end();) {
    const auto next =
        std::find_if(at, of_each.end(), [&](std::int64_t gpus) { return gpus != *at; });
    parts.push_back(format("{} of {}", next - at, *at));
    at = next;
  }
  return join(parts, ", ");
}

bool have_room(const std::vector<std::int64_t>& of_each,
               const std::vector<std::int64_t>& gpus_of_nodes,
               std::optional<std::int64_t> most_on_node) {
  std::multimap<std::int64_t, std::int64_t> pods_on;  // by free GPUs
  for (const std::int64_t gpus : gpus_of_nodes)
    pods_on.emplace(gpus, 0);
  for (const std::int64_t gpus : of_each) {
    const auto node = pods_on.lower_bound(gpus);
    if (node == pods_on.end()) return false;
    const auto [free, pods] = *node;
    pods_on.erase(node);
    if (pods + 1 != most_on_node) pods_on.emplace(free - gpus, pods + 1);
  }
  return true;
}

bool may_fit(const FreeGpus& free, const PlanTask& task, const Choice& choice) {
  if (!task.mixed) return free.may_fit(choice.pool, choice.shape);
  return free.may_fit(choice.pool, {1, task.mixed->groups.front().gpus});
}

bool fits(const FreeGpus& free, const PlanTask& task, const Choice& choice) {
  if (!task.mixed)
    return free.fits(choice.pool, choice.shape, free.usable(task.rest, task.usable()));
  return !find_room(free, task, choice).empty();
}

std::vector<PoolNode> find_room(const FreeGpus& free, const PlanTask& task, const Choice& choice) {
  if (!task.mixed)
    return free.find(choice.pool, choice.shape, free.usable(task.rest, task.usable()),
                     task.preferred.get());
  if (!may_fit(free, task, choice)) return {};
  return pack(free, choice.pool, *task.mixed, choice.shape.d_gpn, task.preferred.get());
}

namespace {

void take_rest(FreeGpus& free, const PlanTask& task, const Choice& choice,
               const std::vector<PoolNode>& nodes, int times) {
  if (!free.rest()) return;
  FreeRest& rest = *free.rest();
  for_rest(task, rest.needs(), choice, nodes,
           [&](RestNumber need, PoolNode node, std::int64_t pods) {
             rest.take(need, choice.pool, node, pods * times);
           });
}

}  // namespace

void take(FreeGpus& free, const PlanTask& task, const Choice& choice,
          const std::vector<PoolNode>& nodes) {
  free.take(choice.pool, nodes, choice.shape.d_gpn);
  take_rest(free, task, choice, nodes, 1);
}

void give_back(FreeGpus& free, const PlanTask& task, const Choice& choice,
               const std::vector<PoolNode>& nodes) {
  free.give_back(choice.pool, nodes, choice.shape.d_gpn);
  take_rest(free, task, choice, nodes, -1);
}

void give_back(FreeGpus& free, const PlanState& state, TaskIndex run) {
  give_back(free, state.tasks()[run], state.running_choice(run), state.progress(run).run.nodes);
}

UsableByStops::UsableByStops(const FreeGpus& free, const PlanTask& task, const Choice& choice)
    : eligible_(task.usable()) {
  const EligibleNodes* now = free.usable(task.rest, eligible_);
  if (now == eligible_) return;
  const int gpus = choice.shape.d_gpn;
  std::vector<NodeSet> rows = now->rows(gpus);
  for (PoolNode node = 0; node < free.nodes(choice.pool); ++node)
    if (free.at(choice.pool, node) < gpus &&
        (eligible_ == nullptr || eligible_->contains(choice.pool, node, gpus)))
      rows[choice.pool].insert(node);
  own_.emplace(EligibleNodes{std::move(rows)});
}

std::vector<PoolNode> pack(const FreeGpus& free, PoolIndex pool, const MixedPods& mixed,
                           int gpus_of_unit, const EligibleNodes* preferred) {
  FreeGpus left = free;
  std::map<PoolNode, std::int64_t> pods_on;
  std::vector<PoolNode> nodes;
  for (const PodGroup& group : mixed.groups)
    for (std::int64_t pod = 0; pod < group.pods; ++pod) {
      const EligibleNodes* usable = left.usable(group.rest, group.eligible.get());
      const auto found = left.find(pool, {1, group.gpus}, usable, preferred);
      if (found.empty()) return {};
      left.take(pool, found, group.gpus);
      if (left.rest() && group.rest) left.rest()->take(*group.rest, pool, found.front(), 1);
      const PoolNode node = found.front();
      const std::int64_t there = ++pods_on[node];
      const auto with_next = static_cast<int>((there + 1) * group.gpus);
      if (there == mixed.most_on_node ||
          (group.eligible != nullptr && !group.eligible->contains(pool, node, with_next)))
        left.take(pool, found, left.at(pool, node));
      nodes.insert(nodes.end(), static_cast<std::size_t>(group.gpus / gpus_of_unit), node);
    }
  return nodes;
}

Choice as_if_equal(const PlanTask& task, const Choice& choice) {
  if (!task.mixed) return choice;
  std::int64_t pods = 0;
  for (const PodGroup& group : task.mixed->groups)
    pods += group.pods;
  Choice equal = choice;
  equal.shape = clamped_placement(pods, task.mixed->groups.front().gpus);
  return equal;
}

}  // namespace slackline::core

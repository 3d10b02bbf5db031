#include "eligibility.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "slackline/base/text.h"
#include "slackline/core/cluster/task_catalog.h"

namespace slackline::core {
namespace {

// Its pods ask for as many GPUs each, and where they run is not one node for each.
bool shares_nodes(const QueueTask& task) {
  const std::vector<std::int64_t>& of_each = task.request.of_each;
  return task.request.pods > 1 && !task.shape_is_free &&
         (of_each.empty() || of_each.front() == of_each.back());
}

// Beyond that as many pods on each node are asked for: who has so many has many nodes.
constexpr std::int64_t kMostUneven = 1024;

bool may_be_uneven(const QueueTask& task) {
  const TaskRequest& request = task.request;
  return shares_nodes(task) && request.of_each.empty() && request.gpus > 0 &&
         request.pods <= kMostUneven;
}

// In units of a pod, of which some share a node.
bool is_uneven(const PlanNote& plan, const TaskRequest& request) {
  const std::set<NodeName> distinct(plan.nodes.begin(), plan.nodes.end());
  return plan.shape == clamped_placement(request.pods, request.gpus) &&
         std::ssize(plan.nodes) == request.pods && distinct.size() < plan.nodes.size();
}

// On the nodes that it may use, were their GPUs free.
bool fits_evenly(const PlacementMenu& menu, const EligibleNodesPtr& eligible) {
  return std::any_of(menu.all.begin(), menu.all.end(), [&](const Choice& choice) {
    const int gpus = choice.shape.d_gpn;
    return eligible == nullptr || eligible->all(choice.pool, gpus) ||
           eligible->rows(gpus)[choice.pool].size() >=
               static_cast<std::size_t>(choice.shape.d_node);
  });
}

}  // namespace

std::string eligibility_key(const Pod& member) {
  std::string key = format("{}|{}", member.requests.cpu_milli, member.requests.memory_bytes);
  if (member.uid.empty())
    for (const ResourceAmount& gpus : member.requests.gpus)
      key += "|r " + gpus.resource;
  for (const ResourceAmount& other : member.requests.others)
    key += format("|o {}={}", other.resource, other.count);
  if (!member.constraints) return key;
  for (const auto& [name, value] : member.constraints->node_selector)
    key += format("|s {}={}", name, value);
  for (const NodeSelectorTerm& term : member.constraints->affinity_terms) {
    key += "|a";
    for (const MatchExpression& expression : term)
      key += format(" {} {} {}", expression.key, static_cast<int>(expression.op),
                    join(expression.values, ","));
  }
  for (const Toleration& toleration : member.constraints->tolerations)
    key += format("|t {} {} {} {}", toleration.key, toleration.exists, toleration.value,
                  toleration.effect ? static_cast<int>(*toleration.effect) : -1);
  return key;
}

EligibleNodesPtr Eligibility::of(const QueueTask& task) {
  const EligibleNodesPtr& eligible = of(*task.member, shares_nodes(task) ? &task.request : nullptr);
  const NodeCheck left_out = left_out_for(task);
  return left_out ? without(left_out, eligible) : eligible;
}

Eligibility::NodeCheck Eligibility::left_out_for(const QueueTask& task) const {
  const auto& stops = task.job ? task.job->preemptions : nullptr;
  const PreemptionNote::SlowRun* slow = stops && stops->slow ? &*stops->slow : nullptr;
  const TaskRefusals* refusals = nullptr;
  if (refused_ != nullptr && !refused_->empty()) {
    const auto at = refused_->find(lasting_name(snapshot_, task.job.get(), *task.member));
    if (at != refused_->end()) refusals = &at->second;
  }
  if (slow == nullptr && refusals == nullptr) return nullptr;
  return [slow, refusals](const NodeName& node) {
    return (slow != nullptr && slow->on(node)) || (refusals != nullptr && refusals->contains(node));
  };
}

const EligibleNodesPtr& Eligibility::of(const Pod& member, const TaskRequest* shared) {
  std::string key = eligibility_key(member);
  if (shared != nullptr)
    key += format("|n {}x{} {} {}", shared->pods, shared->gpus, shared->spread.most.value_or(0),
                  shared->of_each.empty());
  const auto [at, first] = known_.try_emplace(std::move(key));
  if (first) at->second = find(member, shared);
  return at->second;
}

std::shared_ptr<const MixedPods> Eligibility::mixed(const QueueTask& task) {
  const std::vector<std::int64_t>& of_each = task.request.of_each;
  if (of_each.empty()) return nullptr;
  auto mixed = std::make_shared<MixedPods>();
  mixed->most_on_node = most_on_node(task.request.spread);
  const NodeCheck left_out = left_out_for(task);
  std::map<EligibleNodesPtr, EligibleNodesPtr> left;  // by what it is of: equal pods share it
  const auto eligible_for = [&](const Pod& pod) -> EligibleNodesPtr {
    const EligibleNodesPtr& all = of(pod);
    if (!left_out) return all;
    const auto [at, first] = left.try_emplace(all);
    if (first) at->second = without(left_out, all);
    return at->second;
  };
  for (std::size_t i = 0; i < of_each.size(); ++i) {
    const Pod& member = i < task.pods.size() ? *task.pods[i] : *task.member;
    PodGroup pod{1, countable_gpus(of_each[i]), task.plan ? nullptr : eligible_for(member)};
    std::vector<PodGroup>& groups = mixed->groups;
    if (!groups.empty() && groups.back().gpus == pod.gpus && groups.back().eligible == pod.eligible)
      ++groups.back().pods;
    else
      groups.push_back(std::move(pod));
  }
  if (mixed->groups.size() == 1 && !task.plan) mixed->groups.front().eligible = of(task);
  return mixed;
}

EligibleNodesPtr Eligibility::of_all(const MixedPods& mixed) const {
  auto all = std::make_shared<EligibleNodes>();
  for (PoolIndex p = 0; p < pools_.size(); ++p) {
    NodeSet& nodes = all->by_pool.emplace_back(pools_[p].nodes.size());
    for (PoolNode i = 0; i < pools_[p].nodes.size(); ++i)
      if (std::all_of(mixed.groups.begin(), mixed.groups.end(), [&](const PodGroup& group) {
            return group.eligible == nullptr || group.eligible->contains(p, i);
          }))
        nodes.insert(i);
  }
  return all;
}

const EligibleNodesPtr& Eligibility::profilers() {
  if (!snapshot_.node_table.any_profiler || profilers_) return profilers_;
  auto found = std::make_shared<EligibleNodes>();
  for (const QueuePool& pool : pools_) {
    NodeSet& nodes = found->by_pool.emplace_back(pool.nodes.size());
    for (PoolNode i = 0; i < pool.nodes.size(); ++i)
      if (snapshot_.node_table.rows[pool.nodes[i]].profiler) nodes.insert(i);
  }
  profilers_ = std::move(found);
  return profilers_;
}

EligibleNodesPtr Eligibility::without(const NodeCheck& left_out,
                                      const EligibleNodesPtr& eligible) const {
  const auto left_of = [&](const std::vector<NodeSet>* rows) {
    std::vector<NodeSet> left;
    for (PoolIndex p = 0; p < pools_.size(); ++p) {
      const std::vector<NodeIndex>& nodes = pools_[p].nodes;
      NodeSet& set = left.emplace_back(nodes.size());
      for (PoolNode i = 0; i < nodes.size(); ++i)
        if ((rows == nullptr || (*rows)[p].contains(i)) &&
            !left_out(snapshot_.node(nodes[i]).node->name))
          set.insert(i);
    }
    return left;
  };
  auto others = std::make_shared<EligibleNodes>();
  others->by_pool = left_of(eligible == nullptr ? nullptr : &eligible->by_pool);
  if (eligible != nullptr)
    for (const auto& [gpus, rows] : eligible->of_several)
      others->of_several.emplace(gpus, left_of(&rows));
  return others;
}

std::vector<NodeSet> nodes_named(const ClusterSnapshot& snapshot,
                                 const std::vector<QueuePool>& pools,
                                 const std::unordered_set<NodeName>& names) {
  std::vector<NodeSet> named;
  for (const QueuePool& pool : pools) {
    named.emplace_back(pool.nodes.size());
    for (PoolNode i = 0; i < pool.nodes.size(); ++i)
      if (names.contains(snapshot.node(pool.nodes[i]).node->name)) named.back().insert(i);
  }
  return named;
}

std::vector<NodeSet> Eligibility::usable(const Pod& member, std::int64_t pods) const {
  std::vector<NodeSet> usable;
  for (const QueuePool& pool : pools_)
    usable.push_back(usable_nodes(snapshot_, room_, member, pool.nodes, pods));
  return usable;
}

void Eligibility::add_several(const Pod& member, const TaskRequest& shared,
                              EligibleNodes& eligible) const {
  int gpus_on_node = 0;
  for (const QueuePool& pool : pools_)
    gpus_on_node = std::max(gpus_on_node, pool.pool.gpus_per_node);
  const std::int64_t most =
      std::min({shared.pods, gpus_on_node / std::max<std::int64_t>(1, shared.gpus),
                shared.spread.most.value_or(shared.pods)});
  for (std::int64_t pods = 2; pods <= most; ++pods) {
    if (shared.of_each.empty() && shared.pods % pods != 0) continue;
    std::vector<NodeSet> rows = usable(member, pods);
    if (rows != eligible.by_pool)
      eligible.of_several.emplace(static_cast<int>(pods * shared.gpus), std::move(rows));
  }
}

EligibleNodesPtr Eligibility::find(const Pod& member, const TaskRequest* shared) const {
  auto eligible = std::make_shared<EligibleNodes>();
  eligible->by_pool = usable(member, 1);
  if (shared != nullptr) add_several(member, *shared, *eligible);
  if (!eligible->of_several.empty()) return eligible;
  for (PoolIndex p = 0; p < pools_.size(); ++p)
    if (eligible->by_pool[p].size() != pools_[p].nodes.size()) return eligible;
  return nullptr;
}

std::optional<TaskRequest> Eligibility::one_by_one(const QueueTask& task, const TaskMenu& even) {
  if (!may_be_uneven(task)) return std::nullopt;
  if (task.plan ? !is_uneven(*task.plan, task.request) : fits_evenly(*even.menu, of(task)))
    return std::nullopt;
  TaskRequest request = task.request;
  request.of_each.assign(static_cast<std::size_t>(request.pods), request.gpus);
  if (!task.plan && !could_hold(*task.member, request)) return std::nullopt;
  return request;
}

bool Eligibility::could_hold(const Pod& member, const TaskRequest& request) {
  const EligibleNodesPtr& eligible = of(member, &request);
  if (eligible == nullptr) return true;
  for (PoolIndex pool = 0; pool < pools_.size(); ++pool) {
    const std::int64_t most = std::min(pools_[pool].pool.gpus_per_node / request.gpus,
                                       most_on_node(request.spread).value_or(request.pods));
    std::int64_t pods = 0;
    for (PoolNode node = 0; node < pools_[pool].nodes.size(); ++node)
      for (std::int64_t there = 0; there < most; ++there) {
        if (!eligible->contains(pool, node, static_cast<int>((there + 1) * request.gpus))) break;
        ++pods;
      }
    if (pods >= request.pods) return true;
  }
  return false;
}

}  // namespace slackline::core

#include "eligibility.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "slackline/base/text.h"
#include "slackline/core/cluster/task_catalog.h"

namespace slackline::core {

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
  const EligibleNodesPtr& eligible = of(*task.member);
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

const EligibleNodesPtr& Eligibility::of(const Pod& member) {
  const auto [at, first] = known_.try_emplace(eligibility_key(member));
  if (first) at->second = find(member);
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
    PodGroup pod{1, countable_gpus(of_each[i]), task.plan ? nullptr : eligible_for(*task.pods[i])};
    std::vector<PodGroup>& groups = mixed->groups;
    if (!groups.empty() && groups.back().gpus == pod.gpus && groups.back().eligible == pod.eligible)
      ++groups.back().pods;
    else
      groups.push_back(std::move(pod));
  }
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
  auto others = std::make_shared<EligibleNodes>();
  for (PoolIndex p = 0; p < pools_.size(); ++p) {
    const std::vector<NodeIndex>& nodes = pools_[p].nodes;
    NodeSet set(nodes.size());
    for (PoolNode i = 0; i < nodes.size(); ++i)
      if ((eligible == nullptr || eligible->contains(p, i)) &&
          !left_out(snapshot_.node(nodes[i]).node->name))
        set.insert(i);
    others->by_pool.push_back(std::move(set));
  }
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

EligibleNodesPtr Eligibility::find(const Pod& member) const {
  auto eligible = std::make_shared<EligibleNodes>();
  bool every = true;
  for (const QueuePool& pool : pools_) {
    eligible->by_pool.push_back(usable_nodes(snapshot_, room_, member, pool.nodes));
    every = every && eligible->by_pool.back().size() == pool.nodes.size();
  }
  return every ? nullptr : EligibleNodesPtr(std::move(eligible));
}

}  // namespace slackline::core

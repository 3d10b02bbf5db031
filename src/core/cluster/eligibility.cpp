#include "eligibility.h"

#include <algorithm>
#include <memory>
#include <ranges>
#include <set>
#include <string_view>
#include <utility>

#include "slackline/base/text.h"
#include "slackline/core/cluster/predicates.h"
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

// In one of its shapes.
bool fits_evenly(const FreeGpus& gpus, const PlacementMenu& menu, const EligibleNodes* eligible) {
  return std::any_of(menu.all.begin(), menu.all.end(), [&](const Choice& choice) {
    return gpus.fits(choice.pool, choice.shape, eligible);
  });
}

// Whoever stops a run there clears it: its GPU pods are of one.
bool has_one_run(const ClusterSnapshot& snapshot, const NodeState& node) {
  std::size_t pods = 0;
  const Job* job = nullptr;
  for (const PodPtr& pod : node.pods) {
    if (pod->terminal() || !pod->requests.wants_gpus()) continue;
    const Job* of_pod = owning_job(snapshot, *pod);
    if (pods++ > 0 && (of_pod == nullptr || of_pod != job || !job->plan)) return false;
    job = of_pod;
  }
  return pods > 0;
}

std::vector<std::vector<int>> gpus_by_pool(const ClusterSnapshot& snapshot,
                                           const std::vector<QueuePool>& pools) {
  std::vector<std::vector<int>> gpus;
  for (const QueuePool& pool : pools) {
    gpus.emplace_back();
    for (const NodeIndex node : pool.nodes)
      gpus.back().push_back(
          countable_gpus(snapshot.node(node).node->allocatable.gpu_count(pool.pool.resource)));
  }
  return gpus;
}

// By the value of a label.
using DomainNodes = std::map<std::string, std::vector<NodeName>>;

// A node for each pod, so that their numbers by domain differ by `skew` at most; 0: one of each
// domain. Empty: there are too few.
std::vector<NodeName> spread_evenly(const DomainNodes& nodes, std::int64_t pods,
                                    std::int64_t skew) {
  std::vector<NodeName> found;
  std::map<std::string_view, std::ptrdiff_t> taken;
  for (const auto& [domain, those] : nodes) {
    taken[domain] = 0;
    if (skew == 0 && !those.empty()) found.push_back(those.front());
  }
  while (skew > 0 && std::ssize(found) < pods) {
    const std::string* next = nullptr;
    for (const auto& [domain, those] : nodes)
      if (taken[domain] < std::ssize(those) && (next == nullptr || taken[domain] < taken[*next]))
        next = &domain;
    if (next == nullptr) break;
    found.push_back(nodes.at(*next)[static_cast<std::size_t>(taken[*next]++)]);
  }
  if (std::ssize(found) < pods) return {};
  const auto [least, most] = std::ranges::minmax(taken | std::views::values);
  return most - least > skew ? std::vector<NodeName>() : found;
}

}  // namespace

std::vector<std::vector<int>> free_by_pool(const std::vector<QueuePool>& pools,
                                           const RoomTable& room) {
  std::vector<std::vector<int>> gpus;
  for (const QueuePool& pool : pools) {
    gpus.emplace_back();
    for (const NodeIndex node : pool.nodes)
      gpus.back().push_back(countable_gpus(room.free(node).gpu_count(pool.pool.resource)));
  }
  return gpus;
}

std::string eligibility_key(const Pod& member) {
  std::string key = format("{}|{}", member.requests.cpu_milli, member.requests.memory_bytes);
  if (member.uid.empty() || member.requests.gpus.size() > 1)
    for (const ResourceAmount& gpus : member.requests.gpus)
      key += format("|r {}={}", gpus.resource, gpus.count);
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
  for (const auto& volume : member.constraints->volumes)
    key += format("|v {}", volume->key.name);
  for (const Toleration& toleration : member.constraints->tolerations)
    key += format("|t {} {} {} {}", toleration.key, toleration.exists, toleration.value,
                  toleration.effect ? static_cast<int>(*toleration.effect) : -1);
  return key;
}

EligibleNodesPtr Eligibility::of(const QueueTask& task) {
  return left_to(task, shares_nodes(task) ? &task.request : nullptr);
}

EligibleNodesPtr Eligibility::left_to(const QueueTask& task, const TaskRequest* shared) {
  const EligibleNodesPtr& eligible = of(*task.member, shared);
  const NodeCheck left_out = left_out_for(task);
  return left_out ? without(left_out, eligible) : eligible;
}

Eligibility::NodeCheck Eligibility::left_out_for(const QueueTask& task) {
  NodeCheck left_out = slow_or_refused_for(task);
  if (task.request.pods == 1) return left_out;
  if (auto picked = spread_over(task, left_out))
    return [picked = std::move(picked), left_out = std::move(left_out)](const NodeName& name) {
      return !picked->contains(name) || (left_out && left_out(name));
    };
  const std::vector<std::string>& labels = task.request.spread.together;
  if (labels.empty()) return left_out;
  const auto domain = domain_for(task, left_out);
  return [this, &labels, domain, left_out = std::move(left_out)](const NodeName& name) {
    const auto node = snapshot_.find_node(name.str());
    const bool inside = domain && node && domain_of(*snapshot_.node(*node).node, labels) == domain;
    return !inside || (left_out && left_out(name));
  };
}

std::optional<Eligibility::Domain> Eligibility::domain_for(const QueueTask& task,
                                                           const NodeCheck& left_out) {
  const std::vector<std::string>& labels = task.request.spread.together;
  if (task.plan)
    for (const NodeName& name : task.plan->nodes)
      if (const auto node = snapshot_.find_node(name.str()))
        return domain_of(*snapshot_.node(*node).node, labels);
  const bool alike = task.request.of_each.empty();
  const std::int64_t gpus = alike ? std::max<std::int64_t>(1, task.request.gpus) : 1;
  const std::int64_t needed = alike ? task.request.pods : task.request.all_gpus();
  struct Places {
    std::int64_t all = 0;
    std::int64_t free = 0;
  };
  std::map<std::pair<Domain, PoolIndex>, Places> places;
  const EligibleNodesPtr& eligible = of(*task.member);
  for (PoolIndex p = 0; p < pools_.size(); ++p)
    for (PoolNode i = 0; i < pools_[p].nodes.size(); ++i) {
      const NodeIndex index = pools_[p].nodes[i];
      const Node& node = *snapshot_.node(index).node;
      const auto domain = domain_of(node, labels);
      if (!domain || (eligible && !eligible->contains(p, i)) || (left_out && left_out(node.name)))
        continue;
      const std::string& resource = pools_[p].pool.resource;
      Places& there = places[{*domain, p}];
      there.all += node.allocatable.gpu_count(resource) / gpus;
      there.free += std::max<std::int64_t>(0, room_.free(index).gpu_count(resource)) / gpus;
    }
  const auto rank = [&](const Places& there) {
    return there.free >= needed ? std::pair(true, -there.free) : std::pair(false, there.all);
  };
  const Places* best = nullptr;
  std::optional<Domain> found;
  for (const auto& [where, there] : places) {
    if (there.all < needed || (best != nullptr && rank(there) <= rank(*best))) continue;
    best = &there;
    found = where.first;
  }
  return found;
}

// Null: they are left to kube-scheduler.
Eligibility::NamesPtr Eligibility::spread_over(const QueueTask& task, const NodeCheck& left_out) {
  const TaskRequest& request = task.request;
  const auto& apart = request.spread.apart;
  const auto is_planned = [&](const QueuePool& pool) {
    return pool.pool.resource == request.resource &&
           (apart->skew == 0 || 2 * request.gpus > pool.pool.gpus_per_node);
  };
  if (!apart || task.plan || task.shape_is_free || !request.of_each.empty() ||
      !request.spread.together.empty() || std::ranges::none_of(pools_, is_planned))
    return nullptr;
  const auto find = [&] {
    auto nodes = std::make_shared<Names>();
    const std::set<std::string> domains = domains_of(*task.member, apart->label);
    for (PoolIndex pool = 0; pool < pools_.size(); ++pool)
      if (is_planned(pools_[pool]))
        add_spread(task, pool, domains, left_out, *nodes);
      else
        add_all(pool, *nodes);
    return nodes;
  };
  if (left_out) return find();
  const auto [at, first] = spread_.try_emplace(
      format("{}|{}|{}x{}|{} {}", eligibility_key(*task.member), request.resource, request.pods,
             request.gpus, apart->label, apart->skew));
  if (first) at->second = find();
  return at->second;
}

// What kube-scheduler counts the minimum over, whether they have GPUs, room or taints or not.
std::set<std::string> Eligibility::domains_of(const Pod& member, const std::string& label) const {
  std::set<std::string> domains;
  for (const NodeStatePtr& state : snapshot_.nodes)
    if (const std::string* value = find_label(state->node->labels, label);
        value != nullptr && is_selected(member, *state->node))
      domains.insert(*value);
  return domains;
}

void Eligibility::add_all(PoolIndex pool, Names& nodes) const {
  for (const NodeIndex node : pools_[pool].nodes)
    nodes.insert(snapshot_.node(node).node->name);
}

void Eligibility::add_spread(const QueueTask& task, PoolIndex pool,
                             const std::set<std::string>& domains, const NodeCheck& left_out,
                             Names& nodes) {
  const TaskRequest& request = task.request;
  const DomainSpread& apart = *request.spread.apart;
  DomainNodes all;
  for (const std::string& domain : domains)
    all[domain];
  DomainNodes now = all;
  const EligibleNodesPtr& eligible = of(*task.member);
  for (PoolNode i = 0; i < pools_[pool].nodes.size(); ++i) {
    const NodeIndex index = pools_[pool].nodes[i];
    const Node& node = *snapshot_.node(index).node;
    if ((eligible && !eligible->contains(pool, i)) || (left_out && left_out(node.name))) continue;
    const std::string* value = find_label(node.labels, apart.label);
    if (value == nullptr && apart.skew == 0) nodes.insert(node.name);
    if (value == nullptr || node.allocatable.gpu_count(request.resource) < request.gpus) continue;
    const bool has_room = now_.free(index).gpu_count(request.resource) >= request.gpus;
    all[*value].insert(has_room ? all[*value].begin() : all[*value].end(), node.name);
    if (has_room) now[*value].push_back(node.name);
  }
  auto found = spread_evenly(now, request.pods, apart.skew);
  if (found.empty()) found = spread_evenly(all, request.pods, apart.skew);
  // It starts later: which nodes have room then nobody knows.
  const bool later = room_is_later_ && std::ranges::any_of(found, [&](const NodeName& name) {
                       const auto node = snapshot_.find_node(name.str());
                       return now_.free(*node).gpu_count(request.resource) < request.gpus;
                     });
  if (later) return add_all(pool, nodes);
  nodes.insert(found.begin(), found.end());
}

Eligibility::NodeCheck Eligibility::slow_or_refused_for(const QueueTask& task) const {
  const auto& stops = task.job ? task.job->preemptions : nullptr;
  const PreemptionNote::SlowRun* slow = stops && stops->slow ? &*stops->slow : nullptr;
  const TaskRefusals* refusals = refusals_of(task);
  if (slow == nullptr && refusals == nullptr) return nullptr;
  return [slow, refusals](const NodeName& node) {
    return (slow != nullptr && slow->on(node)) || (refusals != nullptr && refusals->contains(node));
  };
}

const TaskRefusals* Eligibility::refusals_of(const QueueTask& task) const {
  if (refused_ == nullptr || refused_->empty()) return nullptr;
  const auto at = refused_->find(refused_as(snapshot_, task.job.get(), *task.member));
  return at == refused_->end() || at->second.empty() ? nullptr : &at->second;
}

bool Eligibility::is_bound_where_it_fits(const QueueTask& task) const {
  const auto& others = task.member->requests.others;
  const auto is_listed = [&](const ResourceAmount& other) {
    return snapshot_.node_table.lists(other.resource);
  };
  if (!std::all_of(others.begin(), others.end(), is_listed)) return false;
  if (refusals_of(task) == nullptr) return true;
  // Those of pods that may not share a node are mostly where the others of them are.
  const Job* job = task.job.get();
  return refused_as(snapshot_, job, *task.member) != lasting_name(snapshot_, job, *task.member);
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
    add_pods({1, countable_gpus(of_each[i]), task.plan ? nullptr : eligible_for(member)}, *mixed);
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

void Eligibility::stay_in_reach(QueueTask& task, const PlacementMenu& menu) {
  if (task.plan || menu.all.empty()) return;
  const EligibleNodesPtr& eligible = of(*task.member);
  if (eligible == nullptr || std::ranges::any_of(menu.all, [&](const Choice& choice) {
        return eligible->by_pool[choice.pool].size() > 0;
      }))
    return;
  const auto [at, first] = in_reach_.try_emplace(eligibility_key(*task.member));
  std::vector<bool>& in_reach = at->second;
  for (PoolIndex pool = 0; first && pool < pools_.size(); ++pool)
    in_reach.push_back(std::ranges::any_of(pools_[pool].nodes, [&](NodeIndex node) {
      return !misfit(*task.member, *snapshot_.node(node).node);
    }));
  if (std::ranges::any_of(menu.all, [&](const Choice& choice) { return in_reach[choice.pool]; }))
    return;
  for (PoolIndex pool = 0; pool < pools_.size(); ++pool)
    if (!in_reach[pool] && pools_[pool].pool.resource == task.request.resource)
      task.request.out_of_reach.push_back(pools_[pool].pool.type);
}

void Eligibility::look_ahead(EligibleNodesPtr later, PlanTask& described) {
  int least = 0;
  for (const Choice& choice : described.menu->all)
    least = least == 0 ? choice.shape.d_gpn : std::min(least, choice.shape.d_gpn);
  described.if_stopped = if_stopped(described.eligible, later, least);
  described.later = std::move(later);
}

EligibleNodesPtr Eligibility::if_stopped(const EligibleNodesPtr& now, const EligibleNodesPtr& later,
                                         int least) {
  if (now == nullptr) return nullptr;
  const auto [at, first] = if_stopped_.try_emplace({now, later, least});
  if (!first) return at->second;
  auto all = std::make_shared<EligibleNodes>(*now);
  if (later != nullptr)
    for (const auto& [gpus, rows] : later->of_several)
      all->of_several.try_emplace(gpus, now->rows(gpus));
  const auto widen = [&](int gpus, std::vector<NodeSet>& rows) {
    for (PoolIndex p = 0; p < rows.size(); ++p)
      for (PoolNode i = 0; i < pools_[p].nodes.size(); ++i)
        if (free_now().at(p, i) < least && (later == nullptr || later->contains(p, i, gpus)) &&
            has_one_run(snapshot_, snapshot_.node(pools_[p].nodes[i])))
          rows[p].insert(i);
  };
  widen(0, all->by_pool);
  for (auto& [gpus, rows] : all->of_several)
    widen(gpus, rows);
  return at->second = std::move(all);
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

std::vector<NodeSet> Eligibility::usable(const Pod& member, std::int64_t pods,
                                         const RoomTable& room) const {
  std::vector<NodeSet> usable;
  for (const QueuePool& pool : pools_)
    usable.push_back(usable_nodes(snapshot_, room, member, pool.nodes, pods));
  return usable;
}

bool any_prefers_types(const std::vector<QueueTask>& tasks) {
  return std::any_of(tasks.begin(), tasks.end(), [](const QueueTask& task) {
    return !task.plan && task.intent->gpu_types.size() > 1;
  });
}

std::vector<PoolIndex> Eligibility::usable_of(std::vector<PoolIndex> preference,
                                              const QueueTask& task, const PlanTask& planned) {
  if (preference.size() < 2 || later_ == nullptr || task.plan) return preference;
  const auto [at, first] = known_later_.try_emplace(eligibility_key(*task.member));
  if (first) at->second.by_pool = usable(*task.member, 1, *later_);
  const EligibleNodes& later = at->second;
  std::erase_if(preference, [&](PoolIndex pool) {
    return std::none_of(
        planned.menu->all.begin(), planned.menu->all.end(), [&](const Choice& choice) {
          const Placement shape =
              planned.mixed ? Placement{1, planned.mixed->groups.front().gpus} : choice.shape;
          return choice.pool == pool && all_gpus().fits(pool, shape, &later);
        });
  });
  return preference;
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
    std::vector<NodeSet> rows = usable(member, pods, room_);
    if (rows != eligible.by_pool)
      eligible.of_several.emplace(static_cast<int>(pods * shared.gpus), std::move(rows));
  }
}

EligibleNodesPtr Eligibility::find(const Pod& member, const TaskRequest* shared) const {
  auto eligible = std::make_shared<EligibleNodes>();
  eligible->by_pool = usable(member, 1, room_);
  if (shared != nullptr) add_several(member, *shared, *eligible);
  if (!eligible->of_several.empty()) return eligible;
  for (PoolIndex p = 0; p < pools_.size(); ++p)
    if (eligible->by_pool[p].size() != pools_[p].nodes.size()) return eligible;
  return nullptr;
}

std::optional<TaskRequest> Eligibility::one_by_one(const QueueTask& task, const TaskMenu& even,
                                                   const PlanNote* place, bool may_start) {
  if (!may_be_uneven(task)) return std::nullopt;
  if (place != nullptr && !is_uneven(*place, task.request)) return std::nullopt;
  if (place == nullptr) {
    const EligibleNodesPtr eligible = of(task);
    const bool may_start_so = may_start && even.length != LengthSource::kModel;
    if (fits_evenly(all_gpus(), *even.menu, eligible.get()) &&
        !(may_start_so && has_room_one_by_one(task.request, *even.menu, eligible.get())))
      return std::nullopt;
  }
  TaskRequest request = task.request;
  request.of_each.assign(static_cast<std::size_t>(request.pods), request.gpus);
  return request;
}

bool Eligibility::could_hold(const QueueTask& task, const TaskRequest& request,
                             const PlacementMenu& menu) {
  const EligibleNodesPtr eligible = left_to(task, &request);
  const FreeGpus& all = all_gpus();
  const std::int64_t most = most_on_node(request.spread).value_or(request.pods);
  return std::any_of(menu.all.begin(), menu.all.end(), [&](const Choice& choice) {
    std::int64_t pods = 0;
    for (PoolNode node = 0; node < all.nodes(choice.pool); ++node)
      for (std::int64_t there = 1; there <= most; ++there) {
        const std::int64_t gpus = there * request.gpus;
        if (gpus > all.at(choice.pool, node)) break;
        if (eligible && !eligible->contains(choice.pool, node, static_cast<int>(gpus))) break;
        ++pods;
      }
    return pods >= request.pods;
  });
}

bool Eligibility::has_room_one_by_one(const TaskRequest& request, const PlacementMenu& even,
                                      const EligibleNodes* eligible) {
  const FreeGpus& free = free_now();
  std::set<PoolIndex> pools;
  if (fits_evenly(free, even, eligible)) return false;
  for (const Choice& choice : even.all)
    pools.insert(choice.pool);
  const std::int64_t most = most_on_node(request.spread).value_or(request.pods);
  return std::any_of(pools.begin(), pools.end(), [&](PoolIndex pool) {
    std::int64_t pods = 0;
    for (std::int64_t there = 1; there <= most && pods < request.pods; ++there) {
      const std::int64_t gpus = there * request.gpus;
      if (gpus > kMaxGpusPerNode) break;
      pods +=
          free.nodes_with(pool, static_cast<int>(gpus), eligible, static_cast<int>(request.pods));
    }
    return pods >= request.pods;
  });
}

const FreeGpus& Eligibility::all_gpus() {
  return all_gpus_ ? *all_gpus_ : all_gpus_.emplace(gpus_by_pool(snapshot_, pools_));
}

const FreeGpus& Eligibility::free_now() {
  return free_now_ ? *free_now_ : free_now_.emplace(free_by_pool(pools_, now_));
}

}  // namespace slackline::core

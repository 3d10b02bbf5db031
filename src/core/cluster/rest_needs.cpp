// What the pods of tasks need besides GPUs, and what of it is free.
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "other_runs.h"
#include "queue_tasks.h"
#include "slackline/base/saturating.h"
#include "slackline/core/cluster/room.h"
#include "slackline/core/planning/mixed_pods.h"

namespace slackline::core {
namespace {

// More than any node has, so that sums do not overflow.
constexpr std::int64_t kMostAmount = std::int64_t{1} << 46;

// How many of its pods may share a node, of those that are alike.
std::vector<int> shared_by(const QueueTask& task, int gpus_of_node) {
  const TaskRequest& request = task.request;
  const std::int64_t gpus = std::max<std::int64_t>(1, request.gpus);
  const std::int64_t most =
      std::min({request.pods, gpus_of_node / gpus, request.spread.most.value_or(request.pods)});
  std::vector<int> several;
  for (std::int64_t pods = 2; pods <= most; ++pods)
    if (request.pods % pods == 0) several.push_back(static_cast<int>(pods));
  return several;
}

}  // namespace

class RestNeeds::Numbering {
 public:
  Numbering(const ClusterSnapshot& snapshot, RestNeeds& needs)
      : snapshot_(snapshot), needs_(needs) {}

  // CPU, memory and pods come first.
  void name_resources(const std::vector<QueueTask>& tasks) {
    std::set<std::string> names;
    const auto add = [&](const Pod& pod) {
      const Resources rest = besides_gpus(pod);
      for (const ResourceAmount& amount : rest.gpus)
        if (amount.count > 0) names.insert(amount.resource);
      for (const ResourceAmount& amount : rest.others)
        if (amount.count > 0 && snapshot_.node_table.lists(amount.resource))
          names.insert(amount.resource);
    };
    for (const QueueTask& task : tasks) {
      add(*task.member);
      for (const PodPtr& pod : task.pods)
        add(*pod);
    }
    needs_.others_.assign(names.begin(), names.end());
  }

  // `bound`: a pod of its run, to which others may have added; null: it is as written. A run that
  // nobody stops asks for nothing again.
  RestNumber of(const Pod& member, const Pod* bound, const PlanTask& planned, RestNeed need) {
    if (bound == nullptr || planned.preemptible || planned.can_give_back)
      need.asked = needs_.amounts(besides_gpus(member));
    need.taken = needs_.amounts(bound == nullptr ? member.requests : bound->requests);
    need.pools = 0;
    for (const Choice& choice : planned.menu->all)
      need.pools |= pool_bit(choice.pool);
    return add(std::move(need));
  }

  // It waits for nothing: nobody stops it.
  RestNumber of_other(const Pod& pod) {
    return add({.asked = {}, .taken = needs_.amounts(pod.requests)});
  }

  void of_mixed(const QueueTask& task, PlanTask& planned) {
    auto mixed = std::make_shared<MixedPods>(*planned.mixed);
    std::size_t pod = 0;
    for (PodGroup& group : mixed->groups) {
      const Pod& member = pod < task.pods.size() ? *task.pods[pod] : *task.member;
      const auto there = std::find_if(
          task.bound.begin(), task.bound.end(),
          [&](const PodPtr& bound) { return bound->requests.gpu_total() == group.gpus; });
      const Pod* bound = there == task.bound.end() ? nullptr : there->get();
      group.rest = of(member, bound, planned, {.eligible = group.eligible});
      pod += static_cast<std::size_t>(group.pods);
    }
    planned.mixed = std::move(mixed);
  }

 private:
  RestNumber add(RestNeed need) {
    const auto [at, first] =
        numbers_.try_emplace(std::tuple(need.asked, need.taken, need.gpus, need.several,
                                        need.eligible.get(), need.pools),
                             static_cast<RestNumber>(needs_.needs_.size()));
    if (first) needs_.needs_.push_back(std::move(need));
    return at->second;
  }

  const ClusterSnapshot& snapshot_;
  RestNeeds& needs_;
  std::map<std::tuple<RestAmounts, RestAmounts, int, std::vector<int>, const EligibleNodes*,
                      std::uint64_t>,
           RestNumber>
      numbers_;
};

RestAmounts RestNeeds::amounts(const Resources& of) const {
  RestAmounts amounts{of.cpu_milli, of.memory_bytes, of.pods};
  for (const std::string& resource : others_)
    amounts.push_back(saturating_add(of.gpu_count(resource), count_of(of.others, resource)));
  for (std::int64_t& amount : amounts)
    amount = std::clamp(amount, -kMostAmount, kMostAmount);
  return amounts;
}

RestNeeds::RestNeeds(const ClusterSnapshot& snapshot, const std::vector<QueuePool>& pools,
                     const std::vector<QueueTask>& tasks, const std::vector<OtherRun>& others,
                     std::vector<PlanTask>& planned)
    : snapshot_(&snapshot), pools_(&pools), queued_(&tasks) {
  int gpus_of_node = 0;
  for (const QueuePool& pool : pools)
    gpus_of_node = std::max(gpus_of_node, pool.pool.gpus_per_node);
  Numbering numbering(snapshot, *this);
  numbering.name_resources(tasks);
  for (std::size_t t = 0; t < planned.size(); ++t) {
    if (t >= tasks.size() + others.size()) {
      const std::size_t before = planned[t].after.front();
      const Pod& member =
          before < tasks.size() ? *tasks[before].member : *others[before - tasks.size()].pod;
      planned[t].rest =
          numbering.of(member, nullptr, planned[t], {.eligible = planned[t].eligible});
    } else if (t >= tasks.size()) {
      planned[t].rest = numbering.of_other(*others[t - tasks.size()].pod);
    } else if (planned[t].mixed) {
      numbering.of_mixed(tasks[t], planned[t]);
    } else {
      const QueueTask& task = tasks[t];
      const bool share = task.request.pods > 1 && !task.shape_is_free;
      RestNeed need;
      need.eligible = planned[t].if_stopped ? planned[t].if_stopped : planned[t].eligible;
      if (share) need.gpus = countable_gpus(task.request.gpus);
      if (share) need.several = shared_by(task, gpus_of_node);
      const Pod* bound = task.bound.empty() ? nullptr : task.bound.front().get();
      planned[t].rest = numbering.of(*task.member, bound, planned[t], std::move(need));
    }
  }
}

// Some task whose pods alone held all GPUs of a node would want more of a resource than it has.
bool RestNeeds::may_be_short(const TaskTable& tasks, const std::vector<RestAmounts>& all,
                             const RestLayout& layout, const FreeGpus& gpus) const {
  std::size_t places = 0;
  for (const std::vector<std::uint32_t>& nodes : layout.node_of)
    places += nodes.size();
  if (places > all.size()) return true;  // what one pool leaves of a node others may take
  std::vector<std::vector<double>> least(gpus.pools());  // for each GPU, by pool and resource
  for (PoolIndex pool = 0; pool < least.size(); ++pool) {
    least[pool].assign(3 + others_.size(), std::numeric_limits<double>::infinity());
    for (PoolNode node = 0; node < gpus.nodes(pool); ++node)
      for (std::size_t i = 0; i < least[pool].size() && gpus.at(pool, node) > 0; ++i)
        least[pool][i] =
            std::min(least[pool][i],
                     static_cast<double>(all[layout.node_of[pool][node]][i]) / gpus.at(pool, node));
  }
  const auto exceeds = [&](const RestAmounts& of_pod, PoolIndex pool, int gpus_of_pod) {
    for (std::size_t i = 0; i < of_pod.size(); ++i)
      if (of_pod[i] > 0 && static_cast<double>(of_pod[i]) > least[pool][i] * gpus_of_pod)
        return true;
    return false;
  };
  const auto is_short = [&](const PlanTask& task, std::optional<RestNumber> rest, int gpus_of_pod) {
    if (!rest) return false;
    const RestNeed& need = needs_[*rest];
    return std::any_of(task.menu->all.begin(), task.menu->all.end(), [&](const Choice& choice) {
      const int of_pod = gpus_of_pod > 0 ? gpus_of_pod : choice.shape.d_gpn;
      return exceeds(need.taken, choice.pool, of_pod);
    });
  };
  return std::any_of(tasks.tasks().begin(), tasks.tasks().end(), [&](const PlanTask& task) {
    if (!task.mixed) return is_short(task, task.rest, task.rest ? needs_[*task.rest].gpus : 0);
    return std::any_of(
        task.mixed->groups.begin(), task.mixed->groups.end(),
        [&](const PodGroup& group) { return is_short(task, group.rest, group.gpus); });
  });
}

// Of what its pods that are there hold, where the room of others of them is kept: they come back.
void RestNeeds::add_there(const QueueTask& task, const RoomTable& room,
                          const std::map<NodeIndex, std::uint32_t>& numbers,
                          std::vector<RestAmounts>& free) const {
  for (const PodPtr& pod : task.bound) {
    if (pod->terminal() || room.ending().contains(*pod)) continue;
    const auto node = snapshot_->find_node(pod->node.str());
    const auto at = node ? numbers.find(*node) : numbers.end();
    if (at == numbers.end()) continue;
    const RestAmounts held = amounts(pod->requests);
    for (std::size_t i = 0; i < held.size(); ++i)
      free[at->second][i] += held[i];
  }
}

std::optional<FreeRest> RestNeeds::free_beside(const std::vector<std::optional<PlannedRun>>& runs,
                                               const RoomTable& room, const TaskTable& tasks,
                                               const FreeGpus& gpus) const {
  RestLayout layout{.needs = needs_, .node_of = {}};
  std::map<NodeIndex, std::uint32_t> numbers;
  std::vector<RestAmounts> free;
  for (const QueuePool& pool : *pools_) {
    std::vector<std::uint32_t>& nodes = layout.node_of.emplace_back();
    for (const NodeIndex node : pool.nodes) {
      const auto [at, first] = numbers.try_emplace(node, static_cast<std::uint32_t>(free.size()));
      if (first) free.push_back(amounts(room.free(node)));
      nodes.push_back(at->second);
    }
  }
  for (TaskIndex t = 0; t < runs.size(); ++t) {
    if (!runs[t]) continue;
    if (t < queued_->size() && ((*queued_)[t].disruption || !(*queued_)[t].plan)) {
      add_there((*queued_)[t], room, numbers, free);
      continue;
    }
    const Choice& choice = tasks[t].menu->all[runs[t]->choice];
    for_rest(tasks[t], needs_, choice, runs[t]->nodes,
             [&](RestNumber need, PoolNode node, std::int64_t pods) {
               RestAmounts& there = free[layout.node_of[choice.pool][node]];
               for (std::size_t i = 0; i < there.size(); ++i)
                 there[i] += needs_[need].taken[i] * pods;
             });
  }
  if (!may_be_short(tasks, free, layout, gpus)) return std::nullopt;
  return FreeRest(std::move(layout), free);
}

}  // namespace slackline::core

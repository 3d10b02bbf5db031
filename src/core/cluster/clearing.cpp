#include "clearing.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "slackline/core/cluster/predicates.h"

namespace slackline::core {
namespace {

// What the pods of a running task use of a node.
Resources used_on(const QueueTask& task, const NodeName& node) {
  Resources used;
  for (const PodPtr& pod : task.bound)
    if (pod->node == node) used += pod->requests;
  return used;
}

bool holds(const std::vector<MovableRun>& runs, TaskIndex index) {
  return std::any_of(runs.begin(), runs.end(),
                     [&](const MovableRun& run) { return run.index == index; });
}

}  // namespace

EligibleNodes nodes_elsewhere(const ClusterSnapshot& snapshot, const Queue& queue,
                              const RoomTable& room, const SlowNodesPtr& slow, TaskIndex index) {
  const PoolIndex pool = queue.state().running_choice(index).pool;
  const std::vector<NodeIndex>& nodes = queue.pools()[pool].nodes;
  EligibleNodes eligible;
  eligible.by_pool.resize(pool + std::size_t{1});
  eligible.by_pool[pool] = usable_nodes(snapshot, room, *queue.task(index).member, nodes);
  if (slow != nullptr)
    for (PoolNode node = 0; node < nodes.size(); ++node)
      if (slow->contains(snapshot.node(nodes[node]).node->name)) eligible.by_pool[pool].erase(node);
  const std::vector<PoolNode>& run = queue.state().progress(index).run.nodes;
  const OwnSpread& spread = queue.task(index).request.spread;
  // As many nodes elsewhere may not be apart.
  if (spread.apart && run.size() > 1) eligible.by_pool[pool] = NodeSet(nodes.size());
  const Node& here = *snapshot.node(nodes[run.front()]).node;
  for (PoolNode node = 0; node < nodes.size(); ++node)
    if (!in_same_domain(here, *snapshot.node(nodes[node]).node, spread.together))
      eligible.by_pool[pool].erase(node);
  for (const PoolNode own : run)
    eligible.by_pool[pool].erase(own);
  return eligible;
}

Clearer::Clearer(const ClusterSnapshot& snapshot, const Queue& queue, const RoomTable& room,
                 const SlowNodesPtr& slow, std::vector<MovableRun> movable)
    : snapshot_(snapshot), queue_(queue), room_(room), slow_(slow), movable_(std::move(movable)) {
  const auto key = [&](const MovableRun& run) {
    return std::tuple(run.lost_gpu_s, queue_.state().running_choice(run.index).gpus, run.index);
  };
  std::sort(movable_.begin(), movable_.end(),
            [&](const MovableRun& a, const MovableRun& b) { return key(a) < key(b); });
}

std::optional<Clearing> Clearer::find(TaskIndex waits, const Choice& choice) const {
  const PlanState& state = queue_.state();
  const EligibleNodes* eligible = state.tasks()[waits].eligible.get();
  const std::vector<NodeIndex>& nodes = queue_.pools()[choice.pool].nodes;
  std::int64_t free_gpus = 0;
  Clearing found;
  found.nodes.by_pool.resize(choice.pool + std::size_t{1});
  found.nodes.by_pool[choice.pool] = NodeSet(nodes.size());
  for (PoolNode node = 0; node < nodes.size(); ++node) {
    free_gpus += std::max(0, state.free().at(choice.pool, node));
    if (eligible == nullptr || eligible->contains(choice.pool, node, choice.shape.d_gpn))
      found.nodes.by_pool[choice.pool].insert(node);
  }
  if (free_gpus < choice.gpus) return std::nullopt;
  FreeGpus free = state.free();
  for (const Clearable& each : clearable(waits, choice)) {
    if (free.fits(choice.pool, choice.shape, &found.nodes)) break;
    std::vector<MovableRun> more;
    for (const MovableRun& run : each.runs)
      if (!holds(found.moved, run.index)) more.push_back(run);
    if (found.moved.size() + more.size() > kMostCleared) continue;
    for (const MovableRun& run : more) {
      found.moved.push_back(run);
      free.give_back(choice.pool, state.progress(run.index).run.nodes,
                     state.running_choice(run.index).shape.d_gpn);
    }
    found.nodes.by_pool[choice.pool].insert(each.node);
  }
  if (!free.fits(choice.pool, choice.shape, &found.nodes)) return std::nullopt;
  return place(waits, choice, free, found) ? std::optional(std::move(found)) : std::nullopt;
}

// Those that lose least first.
std::vector<Clearer::Clearable> Clearer::clearable(TaskIndex waits, const Choice& choice) const {
  const PlanState& state = queue_.state();
  std::map<PoolNode, std::vector<MovableRun>> on;
  for (const MovableRun& run : movable_)
    if (state.running_choice(run.index).pool == choice.pool)
      for (const PoolNode node : state.progress(run.index).run.nodes)
        on[node].push_back(run);
  std::vector<Clearable> nodes;
  for (const auto& [node, runs] : on)
    if (auto each = without_runs(waits, choice, node, runs)) nodes.push_back(*std::move(each));
  std::sort(nodes.begin(), nodes.end(), [](const Clearable& a, const Clearable& b) {
    return std::tuple(a.lost_gpu_s, a.runs.size(), a.node) <
           std::tuple(b.lost_gpu_s, b.runs.size(), b.node);
  });
  return nodes;
}

std::optional<Clearer::Clearable> Clearer::without_runs(TaskIndex waits, const Choice& choice,
                                                        PoolNode node,
                                                        const std::vector<MovableRun>& runs) const {
  const PlanState& state = queue_.state();
  const Pod& member = *queue_.task(waits).member;
  const NodeIndex index = queue_.pools()[choice.pool].nodes[node];
  const Node& object = *snapshot_.node(index).node;
  const auto gpus_of = [&](const MovableRun& run) {
    return state.running_choice(run.index).shape.d_gpn;
  };
  Clearable cleared;
  cleared.node = node;
  int gpus = state.free().at(choice.pool, node);
  if (gpus >= choice.shape.d_gpn || misfit(member, object)) return std::nullopt;
  for (const MovableRun& run : runs) {
    if (gpus >= choice.shape.d_gpn) break;
    gpus += gpus_of(run);
    cleared.runs.push_back(run);
  }
  std::erase_if(cleared.runs, [&](const MovableRun& run) {  // the later ones have made it needless
    const bool needless = gpus - gpus_of(run) >= choice.shape.d_gpn;
    if (needless) gpus -= gpus_of(run);
    return needless;
  });
  if (gpus < choice.shape.d_gpn || cleared.runs.size() > kMostCleared) return std::nullopt;
  Resources left = room_.free(index);
  for (const MovableRun& run : cleared.runs) {
    left += used_on(queue_.task(run.index), object.name);
    cleared.lost_gpu_s += run.lost_gpu_s;
  }
  return snapshot_.fits(besides_gpus(member), left) ? std::optional(std::move(cleared))
                                                    : std::nullopt;
}

// The waiting task first, then the runs, the largest first.
bool Clearer::place(TaskIndex waits, const Choice& choice, FreeGpus& free,
                    Clearing& clearing) const {
  const PlanState& state = queue_.state();
  const std::vector<NodeIndex>& nodes = queue_.pools()[choice.pool].nodes;
  RoomTable room = room_;
  const auto take = [&](const QueueTask& task, const Placement& shape,
                        const std::vector<PoolNode>& where) {
    free.take(choice.pool, where, shape.d_gpn);
    for (const PoolNode node : where)
      for (std::int64_t pod = 0; pod < task.pods_in(shape) / shape.d_node; ++pod)
        room.give_back(nodes[node], Resources{} - task.member->requests);
  };
  for (const MovableRun& run : clearing.moved) {
    const QueueTask& task = queue_.task(run.index);
    for (const PoolNode node : state.progress(run.index).run.nodes)
      room.give_back(nodes[node], used_on(task, snapshot_.node(nodes[node]).node->name));
  }
  take(queue_.task(waits), choice.shape, free.find(choice.pool, choice.shape, &clearing.nodes));
  std::sort(clearing.moved.begin(), clearing.moved.end(),
            [&](const MovableRun& a, const MovableRun& b) {
              const Placement& one = state.running_choice(a.index).shape;
              const Placement& other = state.running_choice(b.index).shape;
              return std::tuple(-one.d_gpn, -one.d_node, a.index) <
                     std::tuple(-other.d_gpn, -other.d_node, b.index);
            });
  for (const MovableRun& run : clearing.moved) {
    const Placement& shape = state.running_choice(run.index).shape;
    const EligibleNodes elsewhere = nodes_elsewhere(snapshot_, queue_, room, slow_, run.index);
    clearing.to.push_back(free.find(choice.pool, shape, &elsewhere));
    if (clearing.to.back().empty()) return false;
    take(queue_.task(run.index), shape, clearing.to.back());
  }
  return true;
}

}  // namespace slackline::core

#include "slackline/core/answers/what_if.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "slackline/base/text.h"
#include "slackline/core/answers/told_forecast.h"
#include "slackline/core/cluster/make_snapshot.h"
#include "slackline/core/cluster/pools.h"

namespace slackline::core {
namespace {

constexpr std::int64_t kMilliCpusPerGpu = 8000;
constexpr std::int64_t kMemoryPerGpu = std::int64_t{64} << 30;
constexpr std::int64_t kPodsOfNode = 110;
constexpr std::string_view kHostName = "kubernetes.io/hostname";

Node node_like(const Node* like, const AddedNodes& added, const std::string& resource) {
  Node node;
  std::int64_t gpus = 1;
  Resources room{kMilliCpusPerGpu, kMemoryPerGpu, kPodsOfNode, {}};
  if (like != nullptr) {
    gpus = like->allocatable.gpu_count(resource);
    room = like->allocatable;
    node.labels = like->labels;
    std::erase_if(node.labels, [](const auto& label) { return label.first == kHostName; });
    node.taints = lasting_taints(*like);
  }
  node.gpu_type = added.gpu_type;
  node.allocatable = {room.cpu_milli / gpus * added.gpus_per_node,
                      room.memory_bytes / gpus * added.gpus_per_node,
                      kPodsOfNode,
                      {}};
  node.allocatable.set_gpus(resource, added.gpus_per_node);
  node.allocatable.others = std::move(room.others);
  return node;
}

// `options`: what is the same for both.
std::vector<Forecast> everybody(const ComparedState& of, double now_s, RolloutOptions options) {
  options.expected = of.expected.tasks;
  options.window_s = of.expected.window_s;
  options.followers = followers_in(of.state);
  std::vector<TaskIndex> asked = options.followers;
  asked.insert(asked.end(), of.state.waiting().begin(), of.state.waiting().end());
  asked.insert(asked.end(), of.state.running().begin(), of.state.running().end());
  std::erase_if(asked, [&](TaskIndex task) { return task >= of.names.size(); });
  std::vector<Forecast> forecasts = rollout(of.state, now_s, of.policy, asked, options);
  for (Forecast& forecast : forecasts)
    forecast = as_told(forecast, of.queue.task(forecast.task), of.state, forecast.task);
  return forecasts;
}

// Of a task that no node could run.
Forecast never(TaskIndex task, const Forecast& after) {
  Forecast forecast;
  forecast.task = task;
  forecast.start_s.deciles.fill(kNever);
  forecast.finish_s.deciles.fill(kNever);
  if (after.chance) forecast.chance = 0;
  return forecast;
}

}  // namespace

const Node* similar_node(const ClusterSnapshot& snapshot, const GpuType& type,
                         const std::string& resource) {
  const Node* like = nullptr;  // a usable one, if there is one
  for (const NodeStatePtr& state : snapshot.nodes)
    if (state->node->gpu_type == type && state->node->problems.empty() &&
        state->node->allocatable.gpu_count(resource) > 0 && (like == nullptr || !is_usable(*like)))
      like = state->node.get();
  return like;
}

std::vector<Taint> lasting_taints(const Node& node) {
  std::vector<Taint> taints;
  std::copy_if(node.taints.begin(), node.taints.end(), std::back_inserter(taints),
               [](const Taint& taint) { return !taint.key.starts_with("node.kubernetes.io/"); });
  return taints;
}

ClusterSnapshot with_nodes(const ClusterSnapshot& snapshot, const AddedNodes& added,
                           const std::string& resource) {
  ClusterSnapshot more = snapshot;
  const Node* like = similar_node(snapshot, added.gpu_type, resource);
  for (int i = 0; i < added.nodes; ++i) {
    Node node = node_like(like, added, resource);
    node.name = NodeName(format("~what-if-{:05}", i));  // no node may be called so
    node.uid = Uid(node.name.str());
    NodeState state;
    state.node = std::make_shared<const Node>(std::move(node));
    more.nodes.push_back(std::make_shared<const NodeState>(std::move(state)));
  }
  more.node_names = nullptr;
  return make_snapshot(std::move(more));
}

PlanState drained(const Queue& queue, const std::vector<NodeIndex>& nodes, double now_s) {
  PlanState state = queue.state();
  const auto is_drained = [&](PoolIndex pool, PoolNode node) {
    return std::find(nodes.begin(), nodes.end(), queue.pools()[pool].nodes[node]) != nodes.end();
  };
  const std::vector<TaskIndex> running(state.running().begin(), state.running().end());
  for (const TaskIndex task : running) {
    const PoolIndex pool = state.running_choice(task).pool;
    const auto& on = state.progress(task).run.nodes;
    if (std::none_of(on.begin(), on.end(), [&](PoolNode n) { return is_drained(pool, n); }))
      continue;
    if (task < queue.size())
      state.stop(task, now_s);
    else
      state.finish(task, now_s);
  }
  for (PoolIndex pool = 0; pool < queue.pools().size(); ++pool)
    for (PoolNode node = 0; node < queue.pools()[pool].nodes.size(); ++node)
      if (is_drained(pool, node)) state.withhold(pool, {node});
  return state;
}

Comparison compare(const ComparedState& before, const ComparedState& after, double now_s,
                   const StopAsked& stop) {
  RolloutOptions options;
  options.stop = stop;
  for (const ComparedState* of : {&before, &after}) {
    options.resolution = std::max(options.resolution, resolution_for(of->state.waiting().size()));
    options.horizon_s =
        std::max(options.horizon_s,
                 horizon_for(of->state, now_s, of->expected.tasks.size(), of->expected.window_s));
  }
  const std::vector<Forecast> first = everybody(before, now_s, options);
  const std::vector<Forecast> second = everybody(after, now_s, options);
  std::unordered_map<Uid, const Forecast*> later;
  for (const Forecast& forecast : second)
    later[after.names[forecast.task]] = &forecast;
  Comparison comparison;
  comparison.complete = !is_asked(stop);
  std::vector<bool> foreseen(before.names.size());
  for (const Forecast& forecast : first) {
    foreseen[forecast.task] = true;
    if (const auto at = later.find(before.names[forecast.task]); at != later.end())
      comparison.tasks.push_back(
          {before.names[forecast.task], forecast.task, forecast, *at->second});
  }
  for (TaskIndex task = 0; task < before.names.size(); ++task)
    if (const auto at = later.find(before.names[task]); !foreseen[task] && at != later.end())
      comparison.tasks.push_back({before.names[task], task, never(task, *at->second), *at->second});
  std::sort(comparison.tasks.begin(), comparison.tasks.end(),
            [](const Outlook& a, const Outlook& b) { return a.task < b.task; });
  return comparison;
}

}  // namespace slackline::core

#include "control/answers/what_if_question.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "control/state/settings.h"
#include "slackline/base/text.h"
#include "slackline/core/planning/gpu_types.h"

namespace slackline::control {
namespace {

constexpr std::int64_t kMostNodes = 1000;
constexpr std::int64_t kMostGpus = 64;
constexpr std::size_t kMostDrained = 200;

Error wrong_nodes(const std::string& text) {
  return {ErrorCode::kInvalidArgument,
          format("add=\"{}\": expected NODESxTYPExGPUS such as 4xA100x8, at most {} nodes of {} "
                 "GPUs",
                 printable(text, 64), kMostNodes, kMostGpus)};
}

// By its pool, else as most nodes have it. A type is added whole where its name says nothing else.
std::string resource_of(const core::Queue& queue, const GpuType& type, const GpuCatalog& catalog) {
  const std::string* any = nullptr;
  for (const core::QueuePool& pool : queue.pools()) {
    if (!catalog.is_whole(pool.pool.resource)) continue;
    if (pool.pool.type == type) return pool.pool.resource;
    if (any == nullptr) any = &pool.pool.resource;
  }
  return any != nullptr ? *any : "nvidia.com/gpu";
}

Result<std::vector<NodeIndex>> nodes_of(const std::string& names, const ClusterSnapshot& snapshot) {
  std::vector<NodeIndex> nodes;
  for (const std::string_view part : split(names, ',')) {
    const auto index = snapshot.find_node(trim(part));
    if (!index)
      return fail(ErrorCode::kNotFound, format("drain: no node {}; /v1/nodes lists all of them",
                                               printable(std::string(part), 64)));
    nodes.push_back(*index);
  }
  if (nodes.size() > kMostDrained)
    return fail(ErrorCode::kInvalidArgument,
                format("drain: {} nodes; at most {}", nodes.size(), kMostDrained));
  return nodes;
}

// The Jobs and pods behind the runs that have no task in the queue, and no run after the drain.
std::vector<ObjectKey> ended_by(const core::PlanState& drained, const core::Queue& queue) {
  const auto& runs = drained.running();
  std::vector<ObjectKey> ended;
  for (const core::TaskIndex run : queue.state().running()) {
    if (run < queue.size() || std::find(runs.begin(), runs.end(), run) != runs.end()) continue;
    ObjectKey key = queue.key_of_run(run);
    if (std::find(ended.begin(), ended.end(), key) == ended.end()) ended.push_back(std::move(key));
  }
  return ended;
}

// What is to be known of nodes of a type that the cluster does not have.
std::string first_of_its_type(const core::Queue& queue, const GpuType& type) {
  const auto& pools = queue.pools();
  if (std::any_of(pools.begin(), pools.end(),
                  [&](const auto& has) { return has.pool.type == type; }))
    return {};
  return "; no usable node has that type now: it takes tasks whose run time on it is known, and "
         "those that name no type";
}

// Of the node that they are made after; empty: it has none.
std::string taints_like(const Node* like) {
  std::vector<std::string> keys;
  if (like != nullptr)
    for (const Taint& taint : core::lasting_taints(*like))
      keys.push_back(printable(taint.key, 64));
  if (keys.empty()) return {};
  return format("; with the {} of {}: {}", keys.size() == 1 ? "taint" : "taints", like->name.str(),
                join(keys, ", "));
}

}  // namespace

Result<core::AddedNodes> parse_added(const std::string& text) {
  const std::size_t first = text.find('x');
  const std::size_t last = text.rfind('x');
  if (first == std::string::npos || last <= first + 1) return fail(wrong_nodes(text));
  const auto nodes = parse_int(text.substr(0, first));
  const auto gpus = parse_int(text.substr(last + 1));
  const std::string type = text.substr(first + 1, last - first - 1);
  if (!nodes || !gpus || type.find_first_of(", /") != std::string::npos || *nodes < 1 ||
      *nodes > kMostNodes || *gpus < 1 || *gpus > kMostGpus)
    return fail(wrong_nodes(text));
  return core::AddedNodes{static_cast<int>(*nodes), GpuType(type), static_cast<int>(*gpus)};
}

Result<ChangedQueue> changed_queue(const WhatIfQuestion& question, const QueueSight& sight,
                                   const core::ArrivalList& arrivals) {
  const int parts = (question.drain.empty() ? 0 : 1) + (question.add.empty() ? 0 : 1) +
                    (question.policy.empty() ? 0 : 1);
  if (parts != 1)
    return fail(ErrorCode::kInvalidArgument,
                "say one of drain=NODE, add=NODESxTYPExGPUS and policy=POLICY");
  ChangedQueue changed;
  changed.policy = sight.policy;
  changed.same = &sight.queue;
  core::TaskMenus menus;
  const auto remake = [&](const ClusterSnapshot& snapshot, const core::QueueOptions& options) {
    changed.other = core::make_queue(snapshot, options, menus);
    changed.expected = core::expected_of(arrivals, menus, *changed.other);
  };
  if (!question.drain.empty()) {
    SLACKLINE_ASSIGN(const auto nodes, nodes_of(question.drain, *sight.snapshot));
    remake(*sight.snapshot, sight.options);
    changed.drained = core::drained(*changed.other, nodes, sight.now_s);
    changed.ended = ended_by(*changed.drained, *changed.other);
    changed.question = format("drain {}", printable(question.drain, 200));
  } else if (!question.add.empty()) {
    SLACKLINE_ASSIGN(core::AddedNodes added, parse_added(question.add));
    added.gpu_type = core::resolved_type(added.gpu_type, *sight.catalog);
    const std::string resource = resource_of(sight.queue, added.gpu_type, *sight.catalog);
    remake(core::with_nodes(*sight.snapshot, added, resource), sight.options);
    changed.question =
        format("add {} with {} {} GPUs{}{}{}", counted(added.nodes, "node"), added.gpus_per_node,
               printable(added.gpu_type.str(), 64), added.nodes == 1 ? "" : " each",
               first_of_its_type(sight.queue, added.gpu_type),
               taints_like(core::similar_node(*sight.snapshot, added.gpu_type, resource)));
  } else {
    SLACKLINE_ASSIGN(changed.policy, served_policy(question.policy));
    core::QueueOptions options = sight.options;
    // As the forecasts beside it: where nobody is released, nobody is stopped.
    const bool released = !sight.snapshot->stock_queue;
    options.may_stop =
        released && (changed.policy.preempts() || sight.settings->queues.any_shares());
    remake(*sight.snapshot, options);
    changed.question = format("policy {}{}", changed.policy.name,
                              !released && changed.policy.preempts()
                                  ? "; in this mode nobody is stopped for others"
                                  : "");
  }
  return changed;
}

}  // namespace slackline::control

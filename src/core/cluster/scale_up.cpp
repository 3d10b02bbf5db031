#include "scale_up.h"

#include <algorithm>
#include <array>

#include "slackline/base/text.h"
#include "slackline/core/cluster/predicates.h"
#include "slackline/core/cluster/room.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/core/planning/mixed_pods.h"

namespace slackline::core {
namespace {

// Taints of the node controller on nodes that may come back.
constexpr std::array<std::string_view, 3> kPassing = {"node.kubernetes.io/not-ready",
                                                      "node.kubernetes.io/unreachable",
                                                      "node.kubernetes.io/unschedulable"};

Node in_service(const Node& node) {
  Node healthy = node;
  healthy.ready = true;
  healthy.unschedulable = false;
  std::erase_if(healthy.taints, [](const Taint& taint) {
    return std::find(kPassing.begin(), kPassing.end(), taint.key) != kPassing.end();
  });
  return healthy;
}

// A shape as a number of pods and GPUs per pod.
struct Members {
  std::int64_t pods = 1;
  std::int64_t gpus = 1;
};

std::vector<Members> allowed_shapes(const QueueTask& task) {
  if (!task.shape_is_free) return {{task.request.pods, task.request.gpus}};
  if (task.intent->any_placement) return {{1, 1}};
  std::vector<Members> shapes;
  for (const Placement& shape : task.intent->placements)
    shapes.push_back({shape.d_node, shape.d_gpn});
  return shapes;
}

}  // namespace

bool PresentNodes::could_run(const QueueTask& task, const std::string& kind) {
  std::string key = format("{}|{}", kind, task.request.resource);
  for (const GpuType& type : task.intent->gpu_types)
    key += "|" + type.str();
  key += format("|{}", task.request.spread.most.value_or(0));
  if (!task.request.of_each.empty()) key += "|" + listed(task.request.of_each);
  for (const Members& shape : allowed_shapes(task))
    key += format("|{}x{}", shape.pods, shape.gpus);
  const auto [at, first] = known_.try_emplace(std::move(key), false);
  if (first) at->second = find(task);
  return at->second;
}

bool PresentNodes::find(const QueueTask& task) const {
  const AcceptedTypes accepted(*task.intent, catalog_, task.request.resource);
  const Resources rest = besides_gpus(*task.member);
  std::vector<std::int64_t> gpus;  // of each node that one member may use
  for (const NodeStatePtr& state : snapshot_.nodes) {
    const Node& node = *state->node;
    const std::int64_t count = node.allocatable.gpu_count(task.request.resource);
    if (count > 0 && accepted.preference(node.gpu_type) && snapshot_.fits(rest, node.allocatable) &&
        !misfit(*task.member, in_service(node)))
      gpus.push_back(count);
  }
  if (!task.request.of_each.empty())
    return have_room(task.request.of_each, gpus, most_on_node(task.request.spread));
  const auto shapes = allowed_shapes(task);
  const std::optional<std::int64_t> most = task.request.spread.most;
  return std::any_of(shapes.begin(), shapes.end(), [&](const Members& shape) {
    std::int64_t room = 0;
    for (const std::int64_t count : gpus) {
      const std::int64_t pods = count / std::max<std::int64_t>(1, shape.gpus);
      room += std::min(pods, most.value_or(pods));
    }
    return room >= shape.pods;
  });
}

}  // namespace slackline::core

#include "control/plan/task_events.h"

#include "slackline/base/text.h"

namespace slackline::control {
namespace {

std::string place_of(const PlanNote& plan) {
  std::vector<std::string> nodes;
  for (const NodeName& node : plan.nodes)
    if (nodes.empty() || nodes.back() != node.str()) nodes.push_back(node.str());
  return format("{} {} on {} (plan {})", plan.shape.str(), plan.gpu_type.str(), join(nodes, ", "),
                plan.id);
}

}  // namespace

std::optional<cluster::TaskEvent> event_of(const OwnWrite& write) {
  const std::string kind = writes_job(write.kind) ? "Job" : "Pod";
  if (write.plan)
    return cluster::TaskEvent{kind, write.key, write.uid, "Planned", place_of(*write.plan), false};
  if (write.kind == OwnWriteKind::kSuspendJob)
    return cluster::TaskEvent{
        kind, write.key, write.uid, write.reason, "suspended again; it waits in the queue", true};
  return std::nullopt;
}

}  // namespace slackline::control

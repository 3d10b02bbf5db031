#include "control/plan/task_events.h"

#include "slackline/base/text.h"
#include "slackline/model/reason.h"

namespace slackline::control {
namespace {

std::string place_of(const PlanNote& plan) {
  std::vector<std::string> nodes;
  for (const NodeName& node : plan.nodes)
    if (nodes.empty() || nodes.back() != node.str()) nodes.push_back(node.str());
  return format("{} {} on {} (plan {})", plan.shape.str(), plan.gpu_type.str(), join(nodes, ", "),
                plan.id);
}

std::string suspension_text(std::string_view code) {
  const ReasonFact* fact = find_reason(code);
  return format("{}; suspended again, it waits in the queue and backs off for a while",
                fact != nullptr ? fact->meaning : code);
}

}  // namespace

std::optional<cluster::TaskEvent> event_of(const OwnWrite& write) {
  cluster::TaskEvent event;
  event.kind = writes_job(write.kind) ? "Job" : "Pod";
  event.object = write.key;
  event.uid = write.uid;
  event.reason = write.reason;
  if (write.plan) {
    event.warning = !write.reason.empty();  // not its first plan
    event.reason = event.warning ? reason::kDeviated : reason::kPlanned;
    event.message = place_of(*write.plan);
    if (event.warning && write.reason != reason::kDeviated)
      event.message = format("{}: now {}", write.reason, event.message);
    return event;
  }
  if (write.kind == OwnWriteKind::kSuspendJob) {
    event.warning = true;
    event.message = suspension_text(write.reason);
    return event;
  }
  if (write.reason == reason::kPlanDisbelieved) {
    event.warning = true;
    event.message =
        "the annotation slackline.dev/plan was removed: Slackline did not write it for this "
        "object, or the plan had ended";
    return event;
  }
  if (write.kind == OwnWriteKind::kLiftGate && write.reason == reason::kReleased) {
    if (!write.task.uid.empty()) {
      event.kind = write.task.kind;
      event.object.name = write.task.name;
      event.uid = write.task.uid;
    }
    event.message = "its pods are nominated, and kube-scheduler may bind them";
    return event;
  }
  return std::nullopt;
}

}  // namespace slackline::control

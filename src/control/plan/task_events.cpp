#include "control/plan/task_events.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/model/reason.h"

namespace slackline::control {
namespace {

std::string place_of(const PlanNote& plan) {
  std::vector<std::string> nodes;
  for (const NodeName& node : plan.nodes)
    if (nodes.empty() || nodes.back() != node.str()) nodes.push_back(node.str());
  return format("{} {} on {} (plan {})", plan.shape.str(),
                plan.gpu_type.empty() ? "GPUs of unknown type" : plan.gpu_type.str(),
                join(nodes, ", "), plan.id);
}

// The Event of each kind; nullopt: nothing.
struct EventText {
  bool warning = false;
  std::string_view reason;
  std::string message;
};

std::optional<EventText> planned(const PlanNote& plan, const Decision& decision) {
  if (decision.verb != Verb::kMove) return EventText{false, reason::kPlanned, place_of(plan)};
  if (decision.reason == reason::kDeviated)
    return EventText{true, reason::kDeviated, place_of(plan)};
  return EventText{true, reason::kDeviated, format("{}: now {}", decision.reason, place_of(plan))};
}

std::optional<EventText> unplanned(const Decision& decision) {
  if (decision.reason != reason::kPlanDisbelieved) return std::nullopt;
  return EventText{
      true, decision.reason,
      "the annotation slackline.dev/plan was removed: Slackline did not write it for this "
      "object, or the plan had ended"};
}

std::string listed(const std::vector<NodeName>& nodes) {
  std::vector<std::string> names;
  for (const NodeName& node : nodes)
    names.push_back(node.str());
  return join(names, ", ");
}

// "default/train from n1 to n2"
std::string move_text(const MovedRun& move) {
  const std::string to = move.to.empty() ? "where a task ends" : listed(move.to);
  return format("{} from {} to {}", move.task.str(), listed(move.from), to);
}

std::string gain_text(const MoveAdvice& advice) {
  return format("it is expected to {} {} earlier, and {:.0f} GPU seconds are lost",
                advice.cause == MoveCause::kSlow ? "end" : "start",
                format_duration(std::max(1.0, std::round(advice.gain_s))), advice.lost_gpu_s);
}

std::string why_text(const MoveAdvice& advice) {
  if (advice.cause == MoveCause::kSlow)
    return format("it runs at {:.0f} % of the predicted speed", 100 * advice.speed);
  return format("{} waits for whole nodes", advice.task.str());
}

std::string moved_text(const StopJob& stop) {
  return format(
      "{}: moved to {}, where it goes on once its pods have ended; {}; {:.0f} % of its work is "
      "left; "
      "stopped {} times so far",
      why_text(*stop.move), listed(stop.preemptions->goes_on->nodes), gain_text(*stop.move),
      100 * stop.preemptions->left, stop.preemptions->count);
}

std::string_view asked_back_text(std::string_view reason) {
  return reason == reason::kBorrowedAskedBack ? " on the GPUs that its queue owns" : "";
}

std::string reshaped_text(const StopJob& stop, std::string_view reason) {
  const PreemptionNote::GoesOn& on = *stop.preemptions->goes_on;
  const std::string where = reason == reason::kBorrowedAskedBack
                                ? format("on {}", listed(on.nodes))
                                : format("instead of {}", on.from.str());
  const std::string why =
      reason == reason::kGrown
          ? format("and is expected to end {} earlier",
                   format_duration(std::max(1.0, std::round(stop.gain.earlier_s))))
          : format("so that {} can start{}", stop.asker.str(), asked_back_text(reason));
  return format(
      "goes on as {} {} {}: its checkpoints keep {:.0f} % of its work; stopped {} times so far",
      on.shape.str(), where, why, 100 * (1 - stop.preemptions->left), stop.preemptions->count);
}

std::string rolled_back_text(ResizeFailure failure) {
  return format(
      "{}: resized by what its family used, it was too {}; its family runs as written "
      "for seven days",
      to_string(failure), failure == ResizeFailure::kSlow ? "slow" : "small");
}

std::string amounts_text(const ContainerAmounts& amounts) {
  std::vector<std::string> parts;
  for (const auto& [what, quantity] :
       {std::pair("cpu", &amounts.cpu_request), std::pair("cpu limit", &amounts.cpu_limit),
        std::pair("memory", &amounts.memory_request),
        std::pair("memory limit", &amounts.memory_limit)})
    if (!quantity->empty()) parts.push_back(format("{} {}", what, *quantity));
  return join(parts, ", ");
}

struct EventWriter {
  const Decision& decision;

  std::optional<EventText> operator()(const ReleaseJob& kind) const {
    return planned(*kind.plan, decision);
  }
  std::optional<EventText> operator()(const PlanPod& kind) const {
    return planned(*kind.plan, decision);
  }
  std::optional<EventText> operator()(const ClearPlan&) const { return unplanned(decision); }
  std::optional<EventText> operator()(const UnplanPod&) const { return unplanned(decision); }
  std::optional<EventText> operator()(const SuspendJob&) const {
    if (decision.reason.empty()) return std::nullopt;
    const ReasonFact* fact = find_reason(decision.reason);
    return EventText{true, decision.reason,
                     format("{}; suspended again, it waits in the queue and backs off for a while",
                            fact != nullptr ? fact->meaning : decision.reason)};
  }
  std::optional<EventText> operator()(const StopJob& kind) const {
    if (kind.disruption)
      return EventText{true, decision.reason,
                       format("{}: its pods were taken away; {:.0f} % of its work is left, and it "
                              "waits in the queue; stopped {} times so far",
                              to_string(kind.disruption->kind), 100 * kind.preemptions->left,
                              kind.preemptions->count)};
    if (kind.move) return EventText{true, decision.reason, moved_text(kind)};
    if (decision.reason == reason::kResizeRolledBack)
      return EventText{true, decision.reason,
                       rolled_back_text(kind.preemptions->too_small) +
                           "; it was stopped, and waits in the queue to go on as written"};
    if (kind.preemptions->goes_on)
      return EventText{decision.reason != reason::kGrown, decision.reason,
                       reshaped_text(kind, decision.reason)};
    return EventText{
        true, decision.reason,
        format("stopped so that {} can start{}: its checkpoints keep {:.0f} % of its work, "
               "and it waits in the queue; stopped {} times so far{}",
               kind.asker.str(), asked_back_text(decision.reason),
               100 * (1 - kind.preemptions->left), kind.preemptions->count,
               kind.risks_deadline ? "; it may miss its deadline now" : "")};
  }
  std::optional<EventText> operator()(const LiftGate& kind) const {
    if (!kind.releases) return std::nullopt;
    return EventText{false, reason::kReleased,
                     "its pods are nominated, and kube-scheduler may bind them"};
  }
  std::optional<EventText> operator()(const TellOfStop& kind) const {
    if (!kind.of) return std::nullopt;
    return EventText{true, reason::kPreemptionPlanned,
                     format("it is stopped at {} so that {} can start; save a checkpoint before",
                            format_rfc3339(kind.notice->at_s), kind.notice->asker.str())};
  }
  std::optional<EventText> operator()(const TakeBackStop& kind) const {
    if (kind.asker.name.empty())
      return EventText{true, reason::kPlanDisbelieved,
                       "the annotations slackline.dev/preempt-at and slackline.dev/preempt-for "
                       "were removed: Slackline did not write them for this pod"};
    if (!kind.of) return std::nullopt;
    return EventText{false, reason::kPreemptionPlanned,
                     format("taken back: it is not stopped for {}", kind.asker.str())};
  }
  std::optional<EventText> operator()(const EvictPod& kind) const {
    return EventText{
        true, decision.reason,
        format("evicted so that {} can start{}: {:.0f} GPU seconds are lost, and the pod that "
               "replaces it waits in the queue{}",
               kind.asker.str(), asked_back_text(decision.reason), kind.lost_gpu_s,
               kind.risks_deadline ? "; it may miss its deadline now" : "")};
  }
  std::optional<EventText> operator()(const EndCalibration& kind) const {
    return EventText{true, decision.reason,
                     format("ended so that {} can start: it only measured how fast its model "
                            "trains, and is made again when nobody waits",
                            kind.asker.str())};
  }
  std::optional<EventText> operator()(const RemoveCalibration&) const { return std::nullopt; }
  std::optional<EventText> operator()(const OpenJob&) const { return std::nullopt; }
  std::optional<EventText> operator()(const Nominate&) const { return std::nullopt; }
  std::optional<EventText> operator()(const ClearNomination&) const { return std::nullopt; }
  std::optional<EventText> operator()(const NarrowPod&) const { return std::nullopt; }
};

// The task that a write to one of its pods is about; nullopt: the pod itself.
std::optional<OwnerRef> task_of(const OwnWrite& write) {
  if (const auto* lift = write.as<LiftGate>()) return lift->releases;
  if (const auto* tell = write.as<TellOfStop>()) return tell->of;
  const auto* taken_back = write.as<TakeBackStop>();
  return taken_back != nullptr && !taken_back->asker.name.empty() ? taken_back->of : std::nullopt;
}

TaskEvent event_about(const OwnWrite& write) {
  TaskEvent event;
  event.kind = write.of_job() ? "Job" : "Pod";
  event.object = write.target.key;
  event.uid = write.target.uid;
  return event;
}

}  // namespace

std::optional<TaskEvent> event_of(const OwnWrite& write) {
  const auto text =
      std::visit([&](const auto& group) { return std::visit(EventWriter{write.decision}, group); },
                 write.change);
  if (!text) return std::nullopt;
  TaskEvent event = event_about(write);
  if (const auto task = task_of(write)) {
    event.kind = task->kind;
    event.object.name = task->name;
    event.uid = task->uid;
  }
  event.reason = text->reason;
  event.message = text->message;
  event.warning = text->warning;
  return event;
}

std::optional<TaskEvent> resize_of(const OwnWrite& write) {
  const auto* release = write.as<ReleaseJob>();
  if (release == nullptr || !release->plan->resize) return std::nullopt;
  const ResizeNote& resize = *release->plan->resize;
  std::vector<std::string> parts;
  if (resize.shape)
    parts.push_back(format("{} instead of {}", release->plan->shape.str(), resize.asked.str()));
  if (resize.amounts) parts.push_back(amounts_text(*resize.amounts));
  TaskEvent event = event_about(write);
  event.reason = reason::kResized;
  event.message =
      format("runs as {}, by what its family used{}; as written: slackline.dev/original",
             join(parts, "; "), resize.trial ? ", as the first of it" : "");
  return event;
}

TaskEvent release_refused(const OwnWrite& write, const std::string& answer) {
  TaskEvent event = event_about(write);
  event.reason = reason::kReleaseRefused;
  event.message = format("{}: {}", find_reason(reason::kReleaseRefused)->meaning, answer);
  event.warning = true;
  return event;
}

TaskEvent resize_suggestion_of(const Job& job, const core::Resizing& resizing) {
  return event_on(job, reason::kResizeSuggested, join(core::suggestions(resizing), "; "),
                  /*warning=*/false);
}

TaskEvent rollback_of(const Portrait& portrait) {
  const ResizeRollback& record = portrait.resizing.rolled_back;
  TaskEvent event;
  event.kind = "Job";
  event.object = {portrait.identity.department, record.task};
  event.uid = record.run;
  event.reason = reason::kResizeRolledBack;
  event.message = rolled_back_text(record.failure);
  event.warning = true;
  return event;
}

TaskEvent loss_of(const Pod& pod) {
  TaskEvent event;
  event.kind = "Pod";
  event.object = pod.key;
  event.uid = pod.uid;
  event.reason = reason::kCannotComeBack;
  event.message = format("{}: {}; put it into a Job, and Slackline brings it back",
                         pod.disruption ? to_string(pod.disruption->kind) : "DisruptionTarget",
                         find_reason(reason::kCannotComeBack)->meaning);
  event.warning = true;
  return event;
}

TaskEvent event_on(const Job& job, std::string_view why, std::string message, bool warning) {
  TaskEvent event;
  event.kind = "Job";
  event.object = job.key;
  event.uid = job.uid;
  event.reason = why;
  event.message = std::move(message);
  event.warning = warning;
  return event;
}

TaskEvent not_reviewed(const Job& job) {
  return event_on(job, reason::kNotReviewed,
                  format("{}; delete it and create it again once `slackline check` is content",
                         find_reason(reason::kNotReviewed)->meaning),
                  /*warning=*/true);
}

TaskEvent suggestion_of(const core::QueueTask& task, const MoveAdvice& advice) {
  TaskEvent event;
  event.kind = task.gang ? task.gang->kind : task.kind == TaskKind::kJob ? "Job" : "Pod";
  if (task.gang) event.api_version = task.gang->api_version;
  event.object = task.key;
  event.uid = task.uid;
  event.reason = reason::kMoveSuggested;
  std::vector<std::string> moves;
  for (const MovedRun& move : advice.moves)
    moves.push_back(move_text(move));
  event.message = format("{}; move {}: {}", why_text(advice), join(moves, ", "), gain_text(advice));
  return event;
}

TaskEvent slowness_of(const Node& node) {
  TaskEvent event;
  event.kind = "Node";
  event.object = {"", node.name.str()};
  event.uid = node.uid;
  event.reason = reason::kNodeSlow;
  event.message =
      format("{}; Slackline prefers other nodes", find_reason(reason::kNodeSlow)->meaning);
  event.warning = true;
  return event;
}

}  // namespace slackline::control

// The spelling of every enumeration of the model: one place, so that REST, journal and metrics
// agree.
#include "slackline/base/text.h"
#include "slackline/model/extender_messages.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/mode.h"
#include "slackline/model/move_advice.h"
#include "slackline/model/pod.h"
#include "slackline/model/portrait.h"
#include "slackline/model/sample.h"
#include "slackline/model/spared.h"
#include "slackline/model/task.h"
#include "slackline/model/task_intent.h"
#include "slackline/model/verdict.h"

namespace slackline {
namespace {

struct VerdictWords {
  std::string_view code;
  std::string_view message;
};

constexpr std::array<VerdictWords, kVerdictCount> kVerdictWords = {{
    {"Pass", ""},
    {"HeldForOthers", "free GPUs are held for tasks of equal or higher priority"},
    {"InsufficientGpus", "insufficient free GPUs"},
    {"NotPlanned", "the task's plan places it on other nodes"},
    {"NotYetObserved", "node not yet observed"},
    {"GpuTypeNotAccepted", "GPU type not among the task's gpu-types"},
    {"GpuTypeUnknown", "node does not tell its GPU type and the task names gpu-types"},
    {"NodeTooSmall", "node has fewer GPUs in all than one pod requests"},
    {"NodeUnreadable", "node reports resources that cannot be parsed"},
}};

}  // namespace

std::string_view to_string(MoveCause cause) {
  return cause == MoveCause::kSlow ? "slow" : "fragmented";
}

std::string_view to_string(UsageKind kind) {
  switch (kind) {
    case UsageKind::kCpu:
      return "cpu";
    case UsageKind::kMemory:
      return "memory";
    case UsageKind::kGpu:
      return "gpu";
    case UsageKind::kGpuMemory:
      return "gpuMemory";
  }
  return "";
}

std::string_view to_string(RunOutcome outcome) {
  switch (outcome) {
    case RunOutcome::kSucceeded:
      return "succeeded";
    case RunOutcome::kFailed:
      return "failed";
    case RunOutcome::kOutOfMemory:
      return "outOfMemory";
    case RunOutcome::kGpuOutOfMemory:
      return "gpuOutOfMemory";
  }
  return "";
}

std::string_view code(Verdict verdict) {
  return kVerdictWords[static_cast<std::size_t>(verdict)].code;
}

std::string_view message(Verdict verdict) {
  return kVerdictWords[static_cast<std::size_t>(verdict)].message;
}

std::string_view to_string(Verb verb) {
  switch (verb) {
    case Verb::kFilter:
      return "filter";
    case Verb::kPrioritize:
      return "prioritize";
    case Verb::kPreempt:
      return "preempt";
    case Verb::kBind:
      return "bind";
    case Verb::kPlan:
      return "plan";
    case Verb::kMove:
      return "move";
    case Verb::kSuspend:
      break;
  }
  return "suspend";
}

std::optional<Verb> parse_verb(std::string_view text) {
  for (const Verb verb : kVerbs)
    if (to_string(verb) == text) return verb;
  return std::nullopt;
}

std::string verb_names() {
  std::string names;
  for (const Verb verb : kVerbs)
    names += format("{}{}", names.empty() ? "" : ", ", to_string(verb));
  return names;
}

std::string_view to_string(PlanDoubt doubt) {
  switch (doubt) {
    case PlanDoubt::kNone:
      return "none";
    case PlanDoubt::kUnsigned:
      return "unsigned";
    case PlanDoubt::kForged:
      return "forged";
    case PlanDoubt::kEnded:
      return "ended";
    case PlanDoubt::kPaused:
      return "paused";
    case PlanDoubt::kOutdated:
      break;
  }
  return "outdated";
}

std::string_view to_string(DisruptionKind kind) {
  constexpr std::array<std::string_view, kDisruptionKindCount> kWords = {"PreemptionByScheduler",
                                                                         "EvictionByEvictionAPI",
                                                                         "DeletionByTaintManager",
                                                                         "DeletionByPodGC",
                                                                         "TerminationByKubelet",
                                                                         "DisruptionTarget",
                                                                         "UnexpectedAdmissionError",
                                                                         "NodeGone",
                                                                         "NodeNotReady"};
  return kWords[static_cast<std::size_t>(kind)];
}

std::string_view to_string(Mode mode) {
  switch (mode) {
    case Mode::kShadow:
      return "shadow";
    case Mode::kAdvise:
      return "advise";
    case Mode::kActive:
      break;
  }
  return "active";
}

std::string_view to_string(GpuSharing sharing) {
  switch (sharing) {
    case GpuSharing::kWhole:
      return "whole";
    case GpuSharing::kMig:
      return "mig";
    case GpuSharing::kTimeslice:
      return "timeslice";
    case GpuSharing::kMps:
      return "mps";
    case GpuSharing::kVgpu:
      break;
  }
  return "vgpu";
}

std::string_view to_string(QosClass qos) {
  switch (qos) {
    case QosClass::kUrgent:
      return "urgent";
    case QosClass::kPrior:
      return "prior";
    case QosClass::kNormal:
      break;
  }
  return "normal";
}

std::optional<QosClass> qos_class_of(std::string_view name) {
  for (const QosClass qos : {QosClass::kNormal, QosClass::kPrior, QosClass::kUrgent})
    if (name == to_string(qos)) return qos;
  return std::nullopt;
}

std::string_view to_string(WorkloadMode mode) {
  return mode == WorkloadMode::kInference ? "inference" : "training";
}

std::string_view to_string(SampleOrigin origin) {
  switch (origin) {
    case SampleOrigin::kCalibration:
      return "calibration";
    case SampleOrigin::kRun:
      return "run";
    case SampleOrigin::kImport:
      break;
  }
  return "import";
}

std::string_view to_string(PodPhase phase) {
  switch (phase) {
    case PodPhase::kPending:
      return "Pending";
    case PodPhase::kRunning:
      return "Running";
    case PodPhase::kSucceeded:
      return "Succeeded";
    case PodPhase::kFailed:
      return "Failed";
    case PodPhase::kUnknown:
      break;
  }
  return "Unknown";
}

std::string_view to_string(TaskKind kind) {
  switch (kind) {
    case TaskKind::kJob:
      return "Job";
    case TaskKind::kController:
      return "Controller";
    case TaskKind::kGang:
      return "Gang";
    case TaskKind::kPod:
      break;
  }
  return "Pod";
}

std::string_view to_string(TaskState state) {
  return kTaskStates.at(static_cast<std::size_t>(state)).name;
}

std::string_view to_string(Spared spared) {
  return kSpared.at(static_cast<std::size_t>(spared)).code;
}

std::vector<std::string_view> spared_codes() {
  std::vector<std::string_view> codes;
  for (const SparedFact& fact : kSpared)
    if (fact.spared != Spared::kNo) codes.push_back(fact.code);
  return codes;
}

std::vector<std::string_view> task_state_names() {
  std::vector<std::string_view> names;
  for (const TaskStateFact& fact : kTaskStates)
    names.push_back(fact.name);
  return names;
}

}  // namespace slackline

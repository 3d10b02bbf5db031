// Jobs and gangs that have ended.
#include <vector>

#include "slackline/base/text.h"
#include "wire/rest/rows.h"

namespace slackline::wire {
namespace {

std::string_view outcome_of(const FinishedTask& task) {
  if (task.deleted) return "deleted";
  return task.succeeded ? "succeeded" : "failed";
}

std::optional<std::int64_t> if_known(std::int64_t count) {
  return count > 0 ? std::optional(count) : std::nullopt;
}

std::optional<double> if_gpus_measured(const FinishedTask& task, double MeasuredUse::* number) {
  return task.use && task.use->gpu_s > 0 ? std::optional((*task.use).*number) : std::nullopt;
}

std::optional<double> if_cpu_measured(const FinishedTask& task, double MeasuredUse::* number) {
  return task.use && task.use->cpu_s > 0 ? std::optional((*task.use).*number) : std::nullopt;
}

std::string gpu_use_text(const FinishedTask& task) {
  const auto share = if_gpus_measured(task, &MeasuredUse::gpu_share);
  return share ? format("{:.0f}", 100 * *share) : "";
}

using HistoryColumns = std::vector<Column<FinishedTask>>;

HistoryColumns columns_of_run() {
  using C = Column<FinishedTask>;
  using T = const FinishedTask&;
  return {
      C::only_cell("NAME", &FinishedTask::key),
      C("namespace", [](T task) { return task.key.ns; }),
      C("name", [](T task) { return task.key.name; }),
      C(
          "kind", [](T task) { return task.kind; },
          "Job, the kind of the controller that made the gang, or Gang of labelled pods")
          .cell("KIND")
          .wide(),
      C("uid", &FinishedTask::uid),
      C("queue", &FinishedTask::queue).cell("~QUEUE"),
      C("qosClass", &FinishedTask::qos_class).cell("~CLASS"),
      C("model", [](T task) { return if_any(task.model); }).cell("MODEL").wide(),
      C(
          "gpuType", [](T task) { return if_any(task.gpu_type); },
          "Where it ran; several are joined with +; absent: not known"),
      C("gpus", &FinishedTask::gpus),
      C("created", [](T task) { return Time{task.created_s}; }).cell("CREATED").wide(),
      C(
          "started", [](T task) { return time_of(task.started_s); }, "Of its first pod")
          .cell("STARTED")
          .wide(),
      C("finished", [](T task) { return Time{task.finished_s}; }),
      C("outcome", outcome_of).one_of({"succeeded", "failed", "deleted"}).cell("OUTCOME"),
      C("deadline", [](T task) { return time_of(task.deadline_s); }),
      C(
          "result", [](T task) { return to_string(task.result()); },
          "Of the deadline; what failed has missed it, what was deleted has none")
          .one_of({"met", "missed", "none"})
          .cell("RESULT"),
      C::only_cell("FINISHED", [](T task) { return Time{task.finished_s}; }),
      C::only_cell("~DEADLINE", [](T task) { return time_of(task.deadline_s); }),
      C(
          "waitSeconds", [](T task) { return seconds_of(task.wait_s()); }, "From creation to start")
          .cell(">~WAITED"),
      C(
          "predictedSeconds", [](T task) { return seconds_of(task.predicted_s); },
          "How long it would run, as the plan said at its release")
          .cell(">PREDICTED"),
      C(
          "durationSeconds", [](T task) { return seconds_of(task.duration_s()); },
          "How long it ran")
          .cell(">DURATION"),
      C::only_cell("~GPU TYPE", &FinishedTask::gpu_type),
      C::only_cell(">~GPUS", &FinishedTask::gpus),
      C("gpuHours", &FinishedTask::gpu_hours)
          .cell(">GPU HOURS", [](T task) { return format("{:.2f}", task.gpu_hours); }),
  };
}

HistoryColumns columns_of_use() {
  using C = Column<FinishedTask>;
  using T = const FinishedTask&;
  return {
      C(
          "resizedFrom", [](T task) { return if_any(task.resized_from); },
          "Of a run that right-sizing changed: the shape as written; absent: none did")
          .cell("RESIZED FROM")
          .wide(),
      C(
          "family", [](T task) { return if_any(task.family); }, "The key of its portrait")
          .cell("FAMILY")
          .wide(),
      C(
          "askedGpus", [](T task) { return if_known(task.asked_gpus); },
          "Before anybody changed it")
          .cell(">ASKED GPUS")
          .wide(),
      C(
          "pods", [](T task) { return if_known(task.pods); }, "That it had at a time"),
      C(
          "cpuMilli", [](T task) { return if_known(task.pods > 0 ? task.cpu_milli : 0); },
          "That each of them asked for"),
      C(
          "gpuUse", [](T task) { return if_gpus_measured(task, &MeasuredUse::gpu_share); },
          "Mean share of a GPU, 0..1; absent: not measured, or its GPUs were shared")
          .cell(">GPU USE %", [](T task) { return gpu_use_text(task); })
          .wide(),
      C(
          "gpuMemoryMax", [](T task) { return if_gpus_measured(task, &MeasuredUse::gpu_memory); },
          "The highest share of a GPU's memory, 0..1"),
      C("gpuMeasuredSeconds", [](T task) { return if_gpus_measured(task, &MeasuredUse::gpu_s); }),
      C(
          "cpuCores", [](T task) { return if_cpu_measured(task, &MeasuredUse::cpu_cores); },
          "Mean of a pod"),
      C("cpuMeasuredSeconds", [](T task) { return if_cpu_measured(task, &MeasuredUse::cpu_s); }),
      C(
          "stops", [](T task) { return if_known(task.stops); },
          "How often it was stopped for other tasks, or by disruptions"),
      C(
          "gang", [](T task) { return if_any(task.gang); },
          "Of a gang: the uid of its controller, and which part of it"),
      C::only_cell("UID", &FinishedTask::uid).wide(),
  };
}

HistoryColumns columns_of_shadow() {
  using C = Column<FinishedTask>;
  using T = const FinishedTask&;
  const auto moment = [](double ShadowRun::* time_s) {
    return [time_s](T task) {
      return task.shadow ? std::optional(Time{(*task.shadow).*time_s}) : std::nullopt;
    };
  };
  return {
      C("shadowStarted", moment(&ShadowRun::started_s),
        "When the planner would have started it (shadow and advise mode)"),
      C("shadowFinished", moment(&ShadowRun::finished_s)),
      C("shadowGpus",
        [](T task) { return task.shadow ? std::optional(task.shadow->gpus) : std::nullopt; }),
  };
}

}  // namespace

template <>
const Columns<FinishedTask>& columns<FinishedTask>() {
  static const Columns<FinishedTask> kColumns = {
      "FinishedTask",
      joined<FinishedTask>({columns_of_run(), columns_of_use(), columns_of_shadow()})};
  return kColumns;
}

}  // namespace slackline::wire

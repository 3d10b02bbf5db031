// Jobs that have ended.
#include "slackline/base/text.h"
#include "wire/rest/rows.h"

namespace slackline::wire {
namespace {

std::string_view outcome_of(const FinishedTask& task) {
  return task.succeeded ? "succeeded" : "failed";
}

}  // namespace

template <>
const Columns<FinishedTask>& columns<FinishedTask>() {
  using C = Column<FinishedTask>;
  using T = const FinishedTask&;
  static const Columns<FinishedTask> kColumns = {
      "FinishedTask",
      {
          C::only_cell("NAME", &FinishedTask::key),
          C("namespace", [](T task) { return task.key.ns; }),
          C("name", [](T task) { return task.key.name; }),
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
          C("outcome", outcome_of).one_of({"succeeded", "failed"}).cell("OUTCOME"),
          C("deadline", [](T task) { return time_of(task.deadline_s); }),
          C(
              "result", [](T task) { return to_string(task.result()); },
              "Of the deadline; what failed has missed it")
              .one_of({"met", "missed", "none"})
              .cell("RESULT"),
          C::only_cell("FINISHED", [](T task) { return Time{task.finished_s}; }),
          C::only_cell("~DEADLINE", [](T task) { return time_of(task.deadline_s); }),
          C(
              "waitSeconds", [](T task) { return seconds_of(task.wait_s()); },
              "From creation to start")
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
          C::only_cell("UID", &FinishedTask::uid).wide(),
      }};
  return kColumns;
}

}  // namespace slackline::wire

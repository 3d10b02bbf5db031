#include "wire/rest/history_codec.h"

#include <string>
#include <utility>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "wire/rest/optional_cells.h"

namespace slackline::wire {
namespace {

std::string duration_text(const std::optional<double>& seconds) {
  return seconds ? format_duration(*seconds) : "";
}

std::string outcome_of(const FinishedTask& task) {
  return task.succeeded ? "succeeded" : "failed";
}

std::vector<std::string> cells_of(const FinishedTask& task) {
  return {task.key.str(),
          task.queue,
          task.qos_class,
          outcome_of(task),
          std::string(to_string(task.result())),
          format_rfc3339(task.finished_s),
          time_text(task.deadline_s),
          duration_text(task.wait_s()),
          duration_text(task.predicted_s),
          duration_text(task.duration_s()),
          task.gpu_type.str(),
          std::to_string(task.gpus),
          format("{:.2f}", task.gpu_hours)};
}

const std::vector<std::string> kHistoryHeadings = {
    "NAME",     "~QUEUE",     "~CLASS",    "OUTCOME",   "RESULT", "FINISHED",  "~DEADLINE",
    ">~WAITED", ">PREDICTED", ">DURATION", "~GPU TYPE", ">~GPUS", ">GPU HOURS"};

void number_field(JsonWriter& out, std::string_view name, const std::optional<double>& value) {
  if (value) out.field(name, *value);
}

}  // namespace

void encode(JsonWriter& out, const FinishedTask& task) {
  out.begin_object();
  out.field("namespace", task.key.ns).field("name", task.key.name).field("uid", task.uid.str());
  out.field("queue", task.queue).field("qosClass", task.qos_class);
  if (!task.model.empty()) out.field("model", task.model);
  if (!task.gpu_type.empty()) out.field("gpuType", task.gpu_type.str());
  out.field("gpus", task.gpus);
  time_field(out, "created", task.created_s);
  time_field(out, "started", task.started_s);
  time_field(out, "finished", task.finished_s);
  out.field("outcome", outcome_of(task));
  time_field(out, "deadline", task.deadline_s);
  out.field("result", to_string(task.result()));
  number_field(out, "waitSeconds", task.wait_s());
  number_field(out, "predictedSeconds", task.predicted_s);
  number_field(out, "durationSeconds", task.duration_s());
  out.field("gpuHours", task.gpu_hours);
  out.end_object();
}

TextTable table_of(const std::vector<FinishedTask>& tasks) {
  TextTable table(kHistoryHeadings);
  for (const FinishedTask& task : tasks)
    table.add(cells_of(task));
  return table;
}

TextTable wide_table_of(const std::vector<FinishedTask>& tasks) {
  std::vector<std::string> headings = kHistoryHeadings;
  for (const char* further : {"MODEL", "CREATED", "STARTED", "UID"})
    headings.emplace_back(further);
  TextTable table(headings);
  for (const FinishedTask& task : tasks) {
    std::vector<std::string> cells = cells_of(task);
    for (std::string further :
         {task.model, format_rfc3339(task.created_s), time_text(task.started_s), task.uid.str()})
      cells.push_back(std::move(further));
    table.add(std::move(cells));
  }
  return table;
}

}  // namespace slackline::wire

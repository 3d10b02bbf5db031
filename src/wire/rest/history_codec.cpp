#include "wire/rest/history_codec.h"

#include <optional>
#include <string>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "wire/format/json_view.h"

namespace slackline::wire {
namespace {

std::string text_of(JsonView item, std::string_view key) {
  return std::string(item[key].text());
}

std::optional<double> time_in(JsonView item, std::string_view key) {
  const auto time_s = parse_rfc3339_s(item[key].text());
  return time_s ? std::optional(*time_s) : std::nullopt;
}

std::optional<MeasuredUse> use_of(JsonView item) {
  MeasuredUse use;
  use.gpu_share = item["gpuUse"].number().value_or(0);
  use.gpu_memory = item["gpuMemoryMax"].number().value_or(0);
  use.gpu_s = item["gpuMeasuredSeconds"].number().value_or(0);
  use.cpu_cores = item["cpuCores"].number().value_or(0);
  use.cpu_s = item["cpuMeasuredSeconds"].number().value_or(0);
  return use == MeasuredUse() ? std::nullopt : std::optional(use);
}

FinishedTask read_task(JsonView item) {
  FinishedTask task;
  task.key = {text_of(item, "namespace"), text_of(item, "name")};
  task.uid = Uid(item["uid"].text());
  if (item["kind"].present()) task.kind = text_of(item, "kind");  // absent: of an earlier version
  task.queue = text_of(item, "queue");
  task.qos_class = text_of(item, "qosClass");
  task.model = text_of(item, "model");
  task.gpu_type = GpuType(item["gpuType"].text());
  task.gpus = item["gpus"].integer().value_or(0);
  task.created_s = time_in(item, "created").value_or(0);
  task.started_s = time_in(item, "started");
  task.finished_s = time_in(item, "finished").value_or(0);
  task.succeeded = item["outcome"].text() == "succeeded";
  task.deleted = item["outcome"].text() == "deleted";
  task.deadline_s = time_in(item, "deadline");
  task.predicted_s = item["predictedSeconds"].number();
  task.gpu_hours = item["gpuHours"].number().value_or(0);
  task.resized_from = text_of(item, "resizedFrom");
  task.family = text_of(item, "family");
  task.asked_gpus = item["askedGpus"].integer().value_or(0);
  task.pods = item["pods"].integer().value_or(0);
  task.cpu_milli = item["cpuMilli"].integer().value_or(0);
  task.held_s = item["durationSeconds"].number().value_or(0);
  task.use = use_of(item);
  task.gang = text_of(item, "gang");
  task.stops = item["stops"].integer().value_or(0);
  const auto started_s = time_in(item, "shadowStarted");
  const auto finished_s = time_in(item, "shadowFinished");
  if (started_s && finished_s)
    task.shadow = ShadowRun{*started_s, *finished_s, item["shadowGpus"].integer().value_or(0)};
  return task;
}

}  // namespace

Result<std::vector<FinishedTask>> read_finished_tasks(std::string_view json) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView root, document.parse(json));
  if (!root["items"].is_array())
    return fail(ErrorCode::kInvalidArgument,
                "items: is missing, or no list; expected what GET /v1/history answers");
  std::vector<FinishedTask> tasks;
  for (const JsonView item : root["items"].items()) {
    tasks.push_back(read_task(item));
    const FinishedTask& task = tasks.back();
    for (const auto& [key, is_there] :
         {std::pair("uid", !task.uid.empty()), std::pair("name", !task.key.name.empty()),
          std::pair("created", task.created_s > 0), std::pair("finished", task.finished_s > 0)})
      if (!is_there)
        return fail(ErrorCode::kInvalidArgument,
                    format("items[{}].{}: is missing, or not what GET /v1/history answers",
                           tasks.size() - 1, key));
  }
  return tasks;
}

}  // namespace slackline::wire

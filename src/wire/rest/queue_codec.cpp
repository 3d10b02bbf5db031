#include "wire/rest/queue_codec.h"

#include <utility>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "wire/rest/optional_cells.h"

namespace slackline::wire {
namespace {

std::string signed_duration(const std::optional<double>& seconds) {
  if (!seconds) return "";
  return (*seconds < 0 ? "-" : "") + format_duration(*seconds < 0 ? -*seconds : *seconds);
}

// Where there is no forecast, the cell says why.
std::string predicted(const QueueRow& row, const std::optional<double>& epoch_s) {
  return epoch_s ? format_rfc3339(*epoch_s) : row.forecast;
}

std::string shape_text(const QueueRow& row) {
  return row.shape ? row.shape->str() : "auto";
}

std::string types_text(const QueueRow& row) {
  if (!row.gpu_type.empty() || !row.plan_id.empty()) return row.gpu_type.str();
  std::vector<std::string> names;
  for (const GpuType& type : row.accepted_types)
    names.push_back(type.str());
  return names.empty() ? "any" : join(names, ",");
}

// Marks what a reader must not overlook.
std::string note_of(const QueueRow& row) {
  if (row.blocked) return "BLOCKED";
  return row.predicted_late() ? "LATE" : "";
}

std::vector<std::string> cells_of(const QueueRow& row) {
  return {row.position > 0 ? std::to_string(row.position) : "",
          row.key.str(),
          row.qos_class,
          row.state,
          row.reason,
          time_text(row.deadline_s),
          signed_duration(row.slack_s),
          signed_duration(row.margin_s),
          note_of(row),
          predicted(row, row.start_s),
          predicted(row, row.finish_s),
          shape_text(row),
          types_text(row)};
}

const std::vector<std::string> kQueueHeadings = {
    ">~POSITION", "NAME", "~CLASS", "~STATE",   "REASON", "DEADLINE", ">~SLACK",
    ">MARGIN",    "NOTE", "STARTS", "FINISHES", "~SHAPE", "GPU TYPE"};

}  // namespace

void encode(JsonWriter& out, const QueueRow& row) {
  out.begin_object();
  if (row.position > 0) out.field("position", row.position);
  out.field("kind", row.kind).field("namespace", row.key.ns).field("name", row.key.name);
  if (!row.uid.empty()) out.field("uid", row.uid.str());
  out.field("queue", row.queue).field("qosClass", row.qos_class);
  if (!row.model.empty()) out.field("model", row.model);
  out.field("state", row.state);
  if (!row.reason.empty()) out.field("reason", row.reason);
  time_field(out, "retryAfter", row.retry_s);
  time_field(out, "created", row.created_s);
  time_field(out, "deadline", row.deadline_s);
  if (row.slack_s) out.field("slackSeconds", *row.slack_s);
  if (row.margin_s) out.field("marginSeconds", *row.margin_s);
  if (row.deadline_s && row.finish_s) out.field("late", row.predicted_late());
  out.field("blocked", row.blocked);
  time_field(out, "predictedStart", row.start_s);
  time_field(out, "predictedStartP90", row.start_p90_s);
  time_field(out, "predictedFinish", row.finish_s);
  time_field(out, "predictedFinishP90", row.finish_p90_s);
  if (!row.forecast.empty()) out.field("forecast", row.forecast);
  out.field("shape", shape_text(row)).field("gpus", row.gpus);
  if (!row.plan_id.empty()) {
    out.field("gpuType", row.gpu_type.str()).field("plan", row.plan_id);
  } else if (!row.accepted_types.empty()) {
    out.key("gpuTypes").begin_array();
    for (const GpuType& type : row.accepted_types)
      out.string(type.str());
    out.end_array();
  }
  out.end_object();
}

TextTable table_of(const std::vector<QueueRow>& rows) {
  TextTable table(kQueueHeadings);
  for (const QueueRow& row : rows)
    table.add(cells_of(row));
  return table;
}

TextTable wide_table_of(const std::vector<QueueRow>& rows, double now_s) {
  std::vector<std::string> headings = kQueueHeadings;
  for (const char* further : {"QUEUE", "KIND", ">GPUS", "MODEL", "PLAN", ">AGE", "RETRIED AFTER"})
    headings.emplace_back(further);
  TextTable table(headings);
  for (const QueueRow& row : rows) {
    std::vector<std::string> cells = cells_of(row);
    for (std::string further :
         {row.queue, row.kind, std::to_string(row.gpus), row.model, row.plan_id,
          signed_duration(now_s - row.created_s), time_text(row.retry_s)})
      cells.push_back(std::move(further));
    table.add(std::move(cells));
  }
  return table;
}

}  // namespace slackline::wire

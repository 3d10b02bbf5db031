#include "wire/queue_codec.h"

#include "slackline/base/duration.h"
#include "wire/text_table.h"

namespace slackline::wire {
namespace {

std::string time_text(const std::optional<double>& epoch_s) {
  return epoch_s ? format_rfc3339(*epoch_s) : "";
}

std::string signed_duration(const std::optional<double>& seconds) {
  if (!seconds) return "";
  return (*seconds < 0 ? "-" : "") + format_duration(*seconds < 0 ? -*seconds : *seconds);
}

void time_field(JsonWriter& out, std::string_view name, const std::optional<double>& epoch_s) {
  if (epoch_s) out.field(name, format_rfc3339(*epoch_s));
}

}  // namespace

void encode(JsonWriter& out, const QueueRow& row) {
  out.begin_object();
  if (row.position > 0) out.field("position", row.position);
  out.field("kind", row.kind).field("namespace", row.key.ns).field("name", row.key.name);
  out.field("queue", row.queue).field("qosClass", row.qos_class).field("state", row.state);
  if (!row.reason.empty()) out.field("reason", row.reason);
  time_field(out, "created", row.created_s);
  time_field(out, "deadline", row.deadline_s);
  if (row.slack_s) out.field("slackSeconds", *row.slack_s);
  time_field(out, "predictedStart", row.start_s);
  time_field(out, "predictedFinish", row.finish_s);
  if (row.shape) out.field("shape", row.shape->str()).field("gpuType", row.gpu_type.str());
  if (!row.plan_id.empty()) out.field("plan", row.plan_id);
  out.end_object();
}

std::string text_of(const std::vector<QueueRow>& rows) {
  TextTable table({">POSITION", "NAMESPACE", "NAME", "KIND", "QUEUE", "CLASS", "STATE", "REASON",
                   "DEADLINE", ">SLACK", "STARTS", "FINISHES", "SHAPE", "GPU TYPE"});
  for (const QueueRow& row : rows)
    table.add({row.position > 0 ? std::to_string(row.position) : "", row.key.ns, row.key.name,
               row.kind, row.queue, row.qos_class, row.state, row.reason, time_text(row.deadline_s),
               signed_duration(row.slack_s), time_text(row.start_s), time_text(row.finish_s),
               row.shape ? row.shape->str() : "", row.gpu_type.str()});
  return table.str();
}

}  // namespace slackline::wire

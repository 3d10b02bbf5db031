#include "wire/kube/event_codec.h"

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "wire/format/json_writer.h"

namespace slackline::wire {
namespace {

std::string_view event_type(const TaskEvent& event) {
  return event.warning ? "Warning" : "Normal";
}

}  // namespace

std::string event_name(const TaskEvent& event) {
  return format("{}.{:016x}", event.object.name.substr(0, 230),
                fingerprint(format("{} {}", event.uid.str(), event.reason)));
}

// The API server takes Events of Nodes, which have no namespace, in this one only.
std::string event_namespace(const TaskEvent& event) {
  return event.kind == "Node" ? "default" : event.object.ns;
}

std::string encode_event(const TaskEvent& event) {
  JsonWriter out;
  out.begin_object().field("apiVersion", "v1").field("kind", "Event");
  out.key("metadata").begin_object();
  out.field("name", event_name(event));
  out.field("namespace", event_namespace(event)).end_object();
  out.key("involvedObject").begin_object();
  const std::string_view known = event.kind == "Job" ? "batch/v1" : "v1";
  out.field("apiVersion", event.api_version.empty() ? known : event.api_version);
  out.field("kind", event.kind);
  if (!event.object.ns.empty()) out.field("namespace", event.object.ns);
  out.field("name", event.object.name);
  out.field("uid", event.uid.str()).end_object();
  out.field("reason", event.reason).field("message", event.message);
  out.field("type", event_type(event));
  out.field("firstTimestamp", format_rfc3339(event.first_s));
  out.field("lastTimestamp", format_rfc3339(event.last_s)).field("count", event.count);
  out.key("source").begin_object().field("component", "slackline").end_object();
  out.end_object();
  return out.take();
}

std::string encode_event_update(const TaskEvent& event) {
  JsonWriter out;
  out.begin_object().field("type", event_type(event));
  out.field("message", event.message).field("count", event.count);
  out.field("lastTimestamp", format_rfc3339(event.last_s)).end_object();
  return out.take();
}

std::string encode_forecast_patch(const TaskEvent& event) {
  JsonWriter out;
  out.begin_array();
  const auto begin = [&](std::string_view op, std::string_view path) -> JsonWriter& {
    return out.begin_object().field("op", op).field("path", path).key("value");
  };
  begin("test", "/metadata/uid").string(event.uid.str()).end_object();
  begin("test", "/spec/suspend").boolean(true).end_object();
  begin("add", "/metadata/annotations/slackline.dev~1forecast").string(event.message).end_object();
  out.end_array();
  return out.take();
}

}  // namespace slackline::wire

#include "wire/event_codec.h"

#include "slackline/base/duration.h"
#include "wire/json_writer.h"

namespace slackline::wire {

std::string encode_event(const EventDto& event) {
  const std::string time = format_rfc3339(event.time_s);
  JsonWriter out;
  out.begin_object().field("apiVersion", "v1").field("kind", "Event");
  out.key("metadata").begin_object();
  out.field("generateName", event.object.name.substr(0, 200) + ".");
  out.field("namespace", event.object.ns).end_object();
  out.key("involvedObject").begin_object();
  out.field("apiVersion", event.kind == "Job" ? "batch/v1" : "v1").field("kind", event.kind);
  out.field("namespace", event.object.ns).field("name", event.object.name);
  out.field("uid", event.uid.str()).end_object();
  out.field("reason", event.reason).field("message", event.message);
  out.field("type", event.warning ? "Warning" : "Normal");
  out.field("firstTimestamp", time).field("lastTimestamp", time).field("count", 1);
  out.key("source").begin_object().field("component", "slackline").end_object();
  out.end_object();
  return out.take();
}

}  // namespace slackline::wire

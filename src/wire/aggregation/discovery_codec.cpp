#include "wire/aggregation/discovery_codec.h"

#include "slackline/base/text.h"
#include "wire/format/json_writer.h"

namespace slackline::wire {
namespace {

void write_version(JsonWriter& out, std::string_view group, std::string_view version) {
  out.begin_object().field("groupVersion", format("{}/{}", group, version));
  out.field("version", version).end_object();
}

}  // namespace

std::string encode_api_group(std::string_view group, std::string_view version) {
  JsonWriter out;
  out.begin_object().field("kind", "APIGroup").field("apiVersion", "v1").field("name", group);
  out.key("versions").begin_array();
  write_version(out, group, version);
  out.end_array().key("preferredVersion");
  write_version(out, group, version);
  out.end_object();
  return out.take();
}

std::string encode_resource_list(std::string_view group, std::string_view version,
                                 const std::vector<DiscoveredResource>& resources) {
  JsonWriter out;
  out.begin_object().field("kind", "APIResourceList").field("apiVersion", "v1");
  out.field("groupVersion", format("{}/{}", group, version));
  out.key("resources").begin_array();
  for (const DiscoveredResource& resource : resources) {
    out.begin_object().field("name", resource.name).field("singularName", "");
    out.field("namespaced", resource.namespaced).field("kind", "SlacklineAnswer");
    out.key("verbs").begin_array().string("get");
    if (resource.creates) out.string("create");
    out.end_array().end_object();
  }
  out.end_array().end_object();
  return out.take();
}

}  // namespace slackline::wire

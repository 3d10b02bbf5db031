#include "wire/kube/binding_codec.h"

#include "wire/format/json_view.h"
#include "wire/format/json_writer.h"

namespace slackline::wire {

std::string encode_binding(const ObjectKey& pod, const Uid& uid, const NodeName& node,
                           const std::vector<std::pair<std::string, std::string>>& annotations) {
  JsonWriter out;
  out.begin_object().field("apiVersion", "v1").field("kind", "Binding");
  out.key("metadata").begin_object();
  out.field("name", pod.name).field("namespace", pod.ns).field("uid", uid.str());
  if (!annotations.empty()) {
    out.key("annotations").begin_object();
    for (const auto& [key, value] : annotations)
      out.field(key, value);
    out.end_object();
  }
  out.end_object();
  out.key("target").begin_object();
  out.field("apiVersion", "v1").field("kind", "Node").field("name", node.str()).end_object();
  out.end_object();
  return out.take();
}

bool says_success(std::string_view json) {
  JsonDocument document;
  const auto root = document.parse(json);
  return root && (*root)["kind"].text() == "Status" && (*root)["status"].text() == "Success";
}

Result<PodBinding> decode_pod_binding(std::string_view json) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView pod, document.parse(json));
  const JsonView metadata = pod["metadata"];
  if (metadata["uid"].text().empty())
    return fail(ErrorCode::kInvalidArgument, "the answer is not a Pod: metadata.uid is missing");
  return PodBinding{.uid = Uid(metadata["uid"].text()),
                    .node = NodeName(pod["spec"]["nodeName"].text()),
                    .deleting = metadata["deletionTimestamp"].present()};
}

}  // namespace slackline::wire

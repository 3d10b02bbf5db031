#include "wire/extender_args.h"

#include <nlohmann/json.hpp>

#include "slackline/base/text.h"
#include "slackline/model/contract.h"
#include "wire/yaml.h"

namespace slackline::wire {
namespace {

using nlohmann::json;

Result<json> parse(std::string_view text, std::string_view what) {
  json value = json::parse(text, nullptr, false);
  if (value.is_discarded())
    return fail(ErrorCode::kInvalidArgument, format("{} is not JSON", what));
  return value;
}

// An object's member, or an empty object where it is absent or something else.
json member(const json& object, const char* key) {
  if (object.is_object() && object.contains(key) && object[key].is_object()) return object[key];
  return json::object();
}

// A member that is text, or `otherwise` where it is absent or something else.
std::string text_member(const json& object, const char* key, const std::string& otherwise = {}) {
  if (object.is_object() && object.contains(key) && object[key].is_string())
    return object[key].get<std::string>();
  return otherwise;
}

Result<json> pod_of(std::string_view manifest) {
  SLACKLINE_ASSIGN(const std::string text, yaml_to_json(manifest));
  SLACKLINE_ASSIGN(json object, parse(text, "the manifest"));
  // yaml_to_json answers a List for a file of several documents.
  if (text_member(object, "kind") == "List" && object.contains("items") &&
      object["items"].is_array() && !object["items"].empty())
    object = object["items"].front();
  const std::string kind = text_member(object, "kind");
  if (kind == "Pod") return object;
  if (kind != "Job")
    return fail(ErrorCode::kInvalidArgument,
                format("the manifest is a \"{}\"; expected a Pod or a Job", printable(kind, 64)));
  json pod = member(member(object, "spec"), "template");
  pod["kind"] = "Pod";
  json metadata = member(pod, "metadata");
  json annotations = member(metadata, "annotations");
  const json inherited = member(member(object, "metadata"), "annotations");
  for (const auto& [key, value] : inherited.items())
    if (key.starts_with(contract::kPrefix) && !annotations.contains(key)) annotations[key] = value;
  metadata["annotations"] = annotations;
  metadata["name"] = text_member(member(object, "metadata"), "name", "job") + "-0";
  metadata["namespace"] = text_member(member(object, "metadata"), "namespace", "default");
  pod["metadata"] = metadata;
  return pod;
}

std::map<std::string, std::string> string_map(const json& object) {
  std::map<std::string, std::string> map;
  for (const auto& [key, value] : object.items())
    if (value.is_string()) map[key] = value.get<std::string>();
  return map;
}

}  // namespace

Result<std::string> encode_extender_args(std::string_view manifest,
                                         const std::vector<std::string>& node_names) {
  SLACKLINE_ASSIGN(json pod, pod_of(manifest));
  json metadata = member(pod, "metadata");
  if (!metadata.contains("name")) metadata["name"] = "unnamed";
  if (!metadata.contains("namespace")) metadata["namespace"] = "default";
  metadata["uid"] = "00000000-0000-4000-8000-000000000000";
  pod["metadata"] = metadata;
  pod["status"] = {{"phase", "Pending"}};
  const json args = {{"Pod", pod}, {"Nodes", nullptr}, {"NodeNames", node_names}};
  return args.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<FilterAnswer> decode_filter_answer(std::string_view text) {
  SLACKLINE_ASSIGN(const json value, parse(text, "the filter answer"));
  if (!value.is_object())
    return fail(ErrorCode::kInvalidArgument, "the filter answer is no ExtenderFilterResult");
  FilterAnswer answer;
  if (value.contains("NodeNames") && value["NodeNames"].is_array())
    for (const json& name : value["NodeNames"])
      if (name.is_string()) answer.passed.push_back(name.get<std::string>());
  answer.failed = string_map(member(value, "FailedNodes"));
  answer.unresolvable = string_map(member(value, "FailedAndUnresolvableNodes"));
  answer.error = text_member(value, "Error");
  return answer;
}

Result<std::map<std::string, int>> decode_scores(std::string_view text) {
  SLACKLINE_ASSIGN(const json value, parse(text, "the prioritize answer"));
  std::map<std::string, int> scores;
  if (!value.is_array())
    return fail(ErrorCode::kInvalidArgument, "the prioritize answer is no HostPriorityList");
  for (const json& entry : value)
    if (entry.is_object() && entry.contains("Host") && entry["Host"].is_string() &&
        entry.contains("Score") && entry["Score"].is_number_integer())
      scores[entry["Host"].get<std::string>()] = entry["Score"].get<int>();
  return scores;
}

Result<std::vector<NamedNode>> decode_named_nodes(std::string_view text) {
  SLACKLINE_ASSIGN(const json value, parse(text, "the node list"));
  std::vector<NamedNode> nodes;
  if (value.is_object() && value.contains("items") && value["items"].is_array())
    for (const json& item : value["items"])
      if (item.is_object() && item.contains("name") && item["name"].is_string())
        nodes.push_back({item["name"].get<std::string>(), text_member(item, "gpuType")});
  return nodes;
}

}  // namespace slackline::wire

#include "wire/kube/manifest.h"

#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "slackline/base/text.h"
#include "slackline/model/contract.h"
#include "wire/format/yaml.h"
#include "wire/kube/kube_decode.h"

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

std::vector<std::string> texts_member(const json& object, const char* key) {
  std::vector<std::string> texts;
  if (object.contains(key) && object[key].is_array())
    for (const json& text : object[key])
      if (text.is_string()) texts.push_back(text.get<std::string>());
  return texts;
}

bool true_member(const json& object, const char* key) {
  return object.contains(key) && object[key].is_boolean() && object[key].get<bool>();
}

// Bytes that are not UTF-8 are replaced, so that this cannot fail.
std::string written(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool is_list(const json& object) {
  return text_member(object, "kind").ends_with("List") && object.contains("items") &&
         object["items"].is_array();
}

bool is_task(const json& object) {
  const std::string kind = text_member(object, "kind");
  return kind == "Pod" || kind == "Job";
}

Error no_task(const json& object, std::string_view expected) {
  return {ErrorCode::kInvalidArgument,
          format("the manifest is a \"{}\"; expected {}",
                 printable(text_member(object, "kind"), 64), expected)};
}

std::string kind_and_name(const json& object) {
  return printable(format("{} {}", text_member(object, "kind", "an object without kind"),
                          text_member(member(object, "metadata"), "name", "unnamed")),
                   128);
}

// An object of `kind` from a template of `owner`, of its name and namespace.
json made_from(const json& pattern, const json& owner, std::string_view version,
               std::string_view kind, std::string_view suffix) {
  json made = pattern;
  json metadata = member(pattern, "metadata");
  const json of_owner = member(owner, "metadata");
  metadata["name"] = text_member(of_owner, "name", "unnamed") + std::string(suffix);
  if (const std::string ns = text_member(of_owner, "namespace"); !ns.empty())
    metadata["namespace"] = ns;
  made["apiVersion"] = version;
  made["kind"] = kind;
  made["metadata"] = metadata;
  return made;
}

// The Pod or the Job that an object is or makes; null: it makes none.
json task_of(const json& object) {
  if (is_task(object)) return object;
  const json spec = member(object, "spec");
  if (text_member(object, "kind") == "CronJob")
    return made_from(member(spec, "jobTemplate"), object, "batch/v1", "Job", "");
  const json pattern = member(spec, "template");
  if (!member(pattern, "spec").contains("containers")) return {};
  return made_from(pattern, object, "v1", "Pod", "-0");
}

Result<json> parse_manifest(std::string_view text) {
  SLACKLINE_ASSIGN(const std::string as_json, yaml_to_json(text));
  return parse(as_json, "the manifest");
}

json pod_of_job(const json& job) {
  json pod = member(member(job, "spec"), "template");
  json metadata = member(pod, "metadata");
  json annotations = member(metadata, "annotations");
  const json inherited = member(member(job, "metadata"), "annotations");
  for (const auto& [key, value] : inherited.items())
    if (key.starts_with(contract::kPrefix) && !annotations.contains(key)) annotations[key] = value;
  metadata["annotations"] = annotations;
  metadata["name"] = text_member(member(job, "metadata"), "name", "job") + "-0";
  metadata["namespace"] = text_member(member(job, "metadata"), "namespace");
  pod["metadata"] = metadata;
  return pod;
}

// What is read here, and not by the decoder, is refused here; null is as good as absent.
Status check_metadata(const json& object) {
  const auto found = object.find("metadata");
  if (found == object.end() || found->is_null() || found->is_object()) return {};
  return fail(ErrorCode::kInvalidArgument,
              format("metadata is {}; expected an object with name and namespace",
                     printable(written(*found), 64)));
}

// What does not exist has no owner, no hold and no plan.
void make_new(json& object, const std::string& ns) {
  json metadata = member(object, "metadata");
  metadata.erase("ownerReferences");
  if (metadata.contains("annotations") && metadata["annotations"].is_object())
    for (const contract::Key& key : contract::kKeys)
      if (contract::reserved(key)) metadata["annotations"].erase(std::string(key.name));
  metadata["namespace"] = ns;
  metadata["name"] = text_member(metadata, "name", "unnamed");
  metadata["uid"] = "00000000-0000-4000-8000-000000000000";
  object["metadata"] = metadata;
}

// "yes", "no", or "" if unknown.
std::string answer_of(const json& object, const char* key) {
  if (!object.contains(key) || !object[key].is_boolean()) return {};
  return object[key].get<bool>() ? "yes" : "no";
}

}  // namespace

Result<Manifest> split_manifest(std::string_view text) {
  SLACKLINE_ASSIGN(const json file, parse_manifest(text));
  const json all = is_list(file) ? file["items"] : json::array({file});
  Manifest manifest;
  for (const json& object : all) {
    const json task = task_of(object);
    if (task.is_null())
      manifest.left_out.push_back(kind_and_name(object));
    else
      manifest.objects.push_back({text_member(member(task, "metadata"), "namespace"), written(task),
                                  is_task(object) ? "" : kind_and_name(object)});
  }
  if (manifest.objects.empty())
    return fail(
        no_task(all.empty() ? json() : all.front(), "a Pod, a Job, or what has a pod template"));
  return manifest;
}

Result<PostedObject> read_posted(std::string_view text, const std::string& ns,
                                 const GpuCatalog& catalog) {
  SLACKLINE_ASSIGN(json object, parse_manifest(text));
  if (is_list(object))
    return fail(ErrorCode::kInvalidArgument,
                format("the manifest has {} objects; send one", object["items"].size()));
  if (!is_task(object)) return fail(no_task(object, "a Pod or a Job"));
  SLACKLINE_TRY(check_metadata(object));
  const bool is_job = text_member(object, "kind") == "Job";
  json pod = is_job ? pod_of_job(object) : object;
  const json named = member(is_job ? object : pod, "metadata");
  if (const std::string own = text_member(named, "namespace", ns); !own.empty() && own != ns)
    return fail(ErrorCode::kInvalidArgument,
                format("the manifest is of the namespace {}, but {} was asked for: "
                       "?namespace={}",
                       printable(own, 64), printable(ns, 64), printable(own, 64)));
  json shown = object;
  shown["metadata"]["namespace"] = ns;
  make_new(pod, ns);
  pod["status"] = {{"phase", "Pending"}};
  KubeDecoder decoder(catalog);
  PostedObject posted;
  posted.written = written(shown);
  SLACKLINE_ASSIGN(posted.pod, decoder.whole_pod(written(pod)));
  if (!is_job) return posted;
  make_new(object, ns);
  object.erase("status");
  SLACKLINE_ASSIGN(KubeObject decoded, decoder.object(KubeKind::kJob, written(object)));
  posted.job = std::make_shared<const Job>(std::get<Job>(std::move(decoded)));
  return posted;
}

Result<Pod> read_manifest(std::string_view text, const std::string& ns, const GpuCatalog& catalog) {
  SLACKLINE_ASSIGN(PostedObject posted, read_posted(text, ns, catalog));
  return std::move(posted.pod);
}

Result<TriedManifest> decode_tried(std::string_view text) {
  SLACKLINE_ASSIGN(const json answer, parse(text, "the answer"));
  if (!answer.is_object() || !answer.contains("items") || !answer["items"].is_array())
    return fail(ErrorCode::kInvalidArgument, "the answer is not a list of nodes");
  TriedManifest tried{text_member(answer, "pod"),
                      text_member(answer, "note"),
                      texts_member(answer, "problems"),
                      {},
                      0,
                      !text_member(answer, "deadline").empty()};
  for (const json& item : answer["items"]) {
    if (!item.is_object()) continue;
    TriedNode node;
    node.name = text_member(item, "node");
    node.gpu_type = text_member(item, "gpuType");
    node.message = text_member(item, "message");
    node.passes = true_member(item, "passes");
    if (item.contains("score") && item["score"].is_number_integer())
      node.score = item["score"].get<int>();
    node.meets_deadline = answer_of(item, "feasible");
    tried.nodes.push_back(std::move(node));
  }
  if (const json rest = member(answer, "metadata");
      rest.contains("remainingItemCount") && rest["remainingItemCount"].is_number_unsigned())
    tried.more_nodes = rest["remainingItemCount"].get<std::int64_t>();
  return tried;
}

}  // namespace slackline::wire

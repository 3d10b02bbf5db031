#include "wire/kube/manifest.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "slackline/base/text.h"
#include "slackline/model/contract.h"
#include "wire/format/json_members.h"
#include "wire/format/yaml.h"
#include "wire/gangs/gang_members.h"
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

std::vector<std::string> texts_member(const json& object, const char* key) {
  std::vector<std::string> texts;
  for (const json& text : list_member(object, key))
    if (text.is_string()) texts.push_back(text.get<std::string>());
  return texts;
}

// Bytes that are not UTF-8 are replaced, so that this cannot fail.
std::string written(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool is_list(const json& object) {
  return text_member(object, "kind").ends_with("List") && object.contains("items") &&
         object["items"].is_array();
}

// Volcano has a Job, too.
bool is_of(const json& object, std::string_view kind, std::string_view group_version) {
  const std::string version = text_member(object, "apiVersion");
  return text_member(object, "kind") == kind &&
         (version.empty() || version.starts_with(group_version));
}

bool is_task(const json& object) {
  return is_of(object, "Pod", "v1") || is_of(object, "Job", "batch/");
}

Error no_task(const json& object, std::string_view expected) {
  const std::string version = text_member(object, "apiVersion");
  return {
      ErrorCode::kInvalidArgument,
      format("the manifest is a \"{}\"{}; expected {}", printable(text_member(object, "kind"), 64),
             version.empty() ? "" : " of " + printable(version, 64), expected)};
}

std::string kind_and_name(const json& object) {
  return printable(format("{} {}", text_member(object, "kind", "an object without kind"),
                          text_member(member(object, "metadata"), "name", "unnamed")),
                   128);
}

// Keys of Slackline in the metadata of what only makes other objects, unless one of the `patterns`
// that count has them too (deploy/policy/misplaced-keys.yaml); empty: none.
std::string misplaced_keys(const json& object, const std::vector<json>& patterns,
                           std::string_view place) {
  const json own = member(object, "metadata");
  if (!list_member(own, "ownerReferences").empty()) return {};
  const auto in_place = [&](const std::string& key) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const json& pattern) {
      const json metadata = member(pattern, "metadata");
      return member(metadata, "annotations").contains(key) ||
             member(metadata, "labels").contains(key);
    });
  };
  std::set<std::string> keys;
  for (const char* map : {"annotations", "labels"}) {
    const json all = member(own, map);
    for (const auto& [key, value] : all.items())
      if (key.starts_with(contract::kPrefix) && !in_place(key)) keys.insert(printable(key, 64));
  }
  if (keys.empty()) return {};
  return format("{}: Slackline does not read {} in its own metadata; write that in {}",
                kind_and_name(object), join({keys.begin(), keys.end()}, ", "), place);
}

// The same of an object that is no gang.
std::string misplaced_keys(const json& object) {
  const json spec = member(object, "spec");
  if (is_of(object, "CronJob", "batch/")) {
    const json job = member(spec, "jobTemplate");
    return misplaced_keys(object, {job, member(member(job, "spec"), "template")},
                          "spec.jobTemplate.metadata");
  }
  if (is_of(object, "Deployment", "apps/") || is_of(object, "StatefulSet", "apps/"))
    return misplaced_keys(object, {member(spec, "template")}, "spec.template.metadata");
  return {};
}

std::string misplaced_keys(const json& gang, const std::vector<GangMembers>& members) {
  std::vector<json> patterns;
  for (const GangMembers& of_role : members)
    patterns.push_back(of_role.pattern);
  return misplaced_keys(gang, patterns, "the metadata of its pod templates");
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
  if (is_of(object, "CronJob", "batch/"))
    return made_from(member(spec, "jobTemplate"), object, "batch/v1", "Job", "");
  const json pattern = member(spec, "template");
  if (!member(pattern, "spec").contains("containers")) return {};
  return made_from(pattern, object, "v1", "Pod", "-0");
}

// What its containers ask for of devices; "4" and 4 are one amount.
std::map<std::string, double> devices_of(const json& pattern) {
  std::map<std::string, double> devices;
  for (const json& container : list_member(member(pattern, "spec"), "containers")) {
    const json resources = member(container, "resources");
    json amounts = member(resources, "requests");
    amounts.update(member(resources, "limits"));
    for (const auto& [resource, amount] : amounts.items()) {
      if (resource.find('/') == std::string::npos) continue;
      const double count = amount.is_number() ? amount.get<double>()
                           : amount.is_string()
                               ? std::strtod(amount.get_ref<const std::string&>().c_str(), nullptr)
                               : 0;
      if (count > 0) devices[resource] += count;
    }
  }
  return devices;
}

json our_annotations(const json& pattern) {
  json ours = json::object();
  const json all = member(member(pattern, "metadata"), "annotations");
  for (const auto& [key, value] : all.items())
    if (key.starts_with(contract::kPrefix)) ours[key] = value;
  return ours;
}

// The gang as one Job of as many pods, without those that need no GPU where others do.
ManifestObject gang_as_job(const json& object, std::vector<GangMembers> members) {
  ManifestObject gang{text_member(member(object, "metadata"), "namespace"), "",
                      kind_and_name(object)};
  std::erase_if(members, [](const GangMembers& of_role) {
    return of_role.pods == 0 || !member(of_role.pattern, "spec").contains("containers");
  });
  const auto needs_none = [](const GangMembers& of_role) {
    return devices_of(of_role.pattern).empty();
  };
  if (!std::all_of(members.begin(), members.end(), needs_none)) std::erase_if(members, needs_none);
  if (members.empty()) {
    gang.why_not = "it makes no pods";
    return gang;
  }
  std::set<std::map<std::string, double>> asked;
  std::int64_t pods = 0;
  json annotations = json::object();
  for (const GangMembers& of_role : members) {
    asked.insert(devices_of(of_role.pattern));
    pods += of_role.pods;
    if (annotations.empty()) annotations = our_annotations(of_role.pattern);
  }
  if (asked.size() > 1) {
    gang.why_not =
        "its pods ask for different numbers of GPUs: such a gang has a forecast once they are "
        "there, by slackline why";
    return gang;
  }
  // How many pods there are is the controller's to say.
  annotations.erase(std::string(contract::kPrefix) + "placements");
  json pattern = std::move(members.back().pattern);
  json metadata = member(pattern, "metadata");
  metadata["annotations"] = std::move(annotations);
  pattern["metadata"] = std::move(metadata);
  json job = made_from(json::object(), object, "batch/v1", "Job", "");
  job["spec"] = {{"completionMode", "Indexed"},
                 {"parallelism", pods},
                 {"completions", pods},
                 {"template", std::move(pattern)}};
  gang.json = written(job);
  return gang;
}

// Of the pods of a gang that come later; empty: none do.
std::string not_counted_of(const json& object) {
  std::int64_t pods = 0;
  std::set<std::string> roles;
  for (const GangMembers& later : members_after_ends_of(object)) {
    if (later.pods == 0) continue;
    pods += later.pods;
    roles.insert(later.role);
  }
  if (pods == 0) return {};
  return format("{}: {} {} once others have ended, and {} not counted: {}", kind_and_name(object),
                counted(pods, "pod"), pods == 1 ? "comes" : "come", pods == 1 ? "is" : "are",
                printable(join({roles.begin(), roles.end()}, ", "), 200));
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
    auto members = gang_members_of(object);
    std::string misplaced =
        members.empty() ? misplaced_keys(object) : misplaced_keys(object, members);
    if (!misplaced.empty()) manifest.misplaced.push_back(std::move(misplaced));
    if (std::string later = not_counted_of(object); !later.empty())
      manifest.not_counted.push_back(std::move(later));
    if (!members.empty()) {
      manifest.objects.push_back(gang_as_job(object, std::move(members)));
      continue;
    }
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

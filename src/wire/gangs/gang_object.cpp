#include "wire/gangs/gang_object.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

#include <nlohmann/json.hpp>

#include "slackline/base/dns_name.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "wire/format/json_members.h"
#include "wire/gangs/gang_members.h"
#include "wire/gangs/owner_gang.h"

namespace slackline::wire {
namespace {

using nlohmann::json;

constexpr std::string_view kKubeflow = "kubeflow.org";
constexpr std::string_view kRayCluster = "RayCluster";
constexpr std::string_view kJobSet = "JobSet";

struct Known {
  std::string_view group;
  std::string_view kind;
};
constexpr std::array kKnown = {
    Known{kKubeflow, "PyTorchJob"},
    Known{kKubeflow, "TFJob"},
    Known{kKubeflow, "XGBoostJob"},
    Known{kKubeflow, "PaddleJob"},
    Known{kKubeflow, "JAXJob"},
    Known{kKubeflow, "MPIJob"},
    Known{"ray.io", kRayCluster},
    Known{"ray.io", "RayJob"},
    Known{"jobset.x-k8s.io", kJobSet},
    Known{"leaderworkerset.x-k8s.io", "LeaderWorkerSet"},
    Known{"trainer.kubeflow.org", "TrainJob"},
    Known{"workload.codeflare.dev", "AppWrapper"},
};

constexpr double kWarmUp_s = 300;  // of an AppWrapper that says nothing
constexpr const char* kWarmUp = "workload.codeflare.dev.appwrapper/warmupGracePeriodDuration";
constexpr const char* kDeployed = "ResourcesDeployed";

std::string as_text(const json& object) {
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<double> seconds_member(const json& object, const char* key) {
  if (!object.contains(key) || !object[key].is_number_integer()) return std::nullopt;
  const auto seconds = object[key].get<std::int64_t>();
  if (seconds < 0) return std::nullopt;
  return static_cast<double>(seconds);
}

std::optional<double> time_member(const json& object, const char* key) {
  const auto time_s = parse_rfc3339_s(text_member(object, key));
  return time_s ? std::optional(*time_s) : std::nullopt;
}

// Since when its clocks run.
double started_s(const json& object) {
  const auto created_s = time_member(member(object, "metadata"), "creationTimestamp");
  return time_member(member(object, "status"), "startTime").value_or(created_s.value_or(0));
}

// An AppWrapper makes everything anew where not all pods run by then.
std::optional<double> warmed_up_s(const json& object) {
  std::optional<double> deployed_s;
  for (const json& condition : list_member(member(object, "status"), "conditions"))
    if (text_member(condition, "type") == kDeployed && text_member(condition, "status") == "True")
      deployed_s = time_member(condition, "lastTransitionTime");
  if (!deployed_s) return std::nullopt;
  const json annotations = member(member(object, "metadata"), "annotations");
  const auto own_s = parse_duration_s(text_member(annotations, kWarmUp));
  return *deployed_s + (own_s ? *own_s : kWarmUp_s);
}

void read_clocks(const json& object, GangSpec& spec) {
  const json said = member(object, "spec");
  const json policy = member(said, "runPolicy");  // of a PyTorchJob and its like
  const double began_s = started_s(object);
  const auto run_s = seconds_member(policy.empty() ? said : policy, "activeDeadlineSeconds");
  // A launcher that is made once all workers are ready begins its clock then.
  if (run_s && !launcher_comes_last(said)) spec.ends_s = began_s + *run_s;
  if (const auto limit_s = seconds_member(said, "preRunningDeadlineSeconds"))
    spec.starts_by_s = began_s + *limit_s;
  if (text_member(object, "kind") == "AppWrapper") spec.starts_by_s = warmed_up_s(object);
}

// A pod of the template, if it is a member that asks for GPUs; else null. The labels of people, and
// groups of kube-scheduler's, make gangs of their own.
std::shared_ptr<const Pod> member_of(const json& pattern, const std::string& ns,
                                     KubeDecoder& decoder) {
  json pod = pattern;
  json metadata = member(pattern, "metadata");
  metadata["name"] = "member";
  metadata["namespace"] = ns;
  pod["metadata"] = std::move(metadata);
  auto read = decoder.whole_pod(as_text(pod));
  if (!read || !read->requests.wants_gpus() || read->in_pod_group ||
      (read->intent && read->intent->gang))
    return nullptr;
  return std::make_shared<const Pod>(*std::move(read));
}

std::int64_t succeeded_in(const json& status) {
  if (!status.contains("succeeded") || !status["succeeded"].is_number_integer()) return 0;
  return std::max<std::int64_t>(0, status["succeeded"].get<std::int64_t>());
}

// Pods that do not come again.
std::int64_t succeeded_of(const json& object, const GangMembers& members) {
  const json status = member(object, "status");
  if (members.in_jobs == 0)
    return succeeded_in(member(member(status, "replicaStatuses"), members.role.c_str()));
  for (const json& of_jobs : list_member(status, "replicatedJobsStatus"))
    if (text_member(of_jobs, "name") == members.role)
      return std::min(members.in_jobs, succeeded_in(of_jobs)) * (members.pods / members.in_jobs);
  return 0;
}

// Whether it is asked how many pods there are to be before any runs: not where each Job of it, or
// each group, is a gang.
bool says_how_many(const json& object) {
  const std::string kind = text_member(object, "kind");
  if (kind == kJobSet) {
    const auto members = gang_members_of(object);
    return std::ranges::none_of(members, &GangMembers::job_by_job);
  }
  return api_group(text_member(object, "apiVersion")) == kKubeflow || kind == kRayCluster;
}

std::string namespace_of(const json& object) {
  return text_member(member(object, "metadata"), "namespace");
}

std::optional<std::int64_t> pods_of(const json& object, KubeDecoder& decoder) {
  std::int64_t pods = 0;
  for (const GangMembers& of_role : gang_members_of(object))
    if (of_role.after.empty() && member_of(of_role.pattern, namespace_of(object), decoder))
      pods += std::max<std::int64_t>(0, of_role.pods - succeeded_of(object, of_role));
  return pods > 0 ? std::optional(pods) : std::nullopt;
}

std::vector<LaterMembers> later_of(const json& object, KubeDecoder& decoder) {
  std::vector<LaterMembers> later;
  for (GangMembers& of_role : gang_members_of(object)) {
    if (of_role.after.empty()) continue;
    LaterMembers& members = later.emplace_back();
    members.role = std::move(of_role.role);
    members.after = std::move(of_role.after);
    members.pattern = member_of(of_role.pattern, namespace_of(object), decoder);
    members.made_of = fingerprint(as_text(of_role.pattern));
    if (members.pattern)
      members.pods = of_role.job_by_job ? of_role.pods / of_role.in_jobs : of_role.pods;
  }
  return later;
}

std::optional<GangObjectRef> owner_of(const json& object) {
  for (const json& owner : list_member(member(object, "metadata"), "ownerReferences"))
    if (true_member(owner, "controller"))
      return GangObjectRef{text_member(owner, "apiVersion"), text_member(owner, "kind"),
                           text_member(owner, "name"), Uid(text_member(owner, "uid"))};
  return std::nullopt;
}

}  // namespace

std::optional<std::string> gang_object_path(const GangObjectRef& ref, const std::string& ns) {
  const std::string_view group = api_group(ref.api_version);
  const bool known = std::any_of(kKnown.begin(), kKnown.end(), [&](const Known& each) {
    return each.group == group && each.kind == ref.kind;
  });
  if (!known) return std::nullopt;
  const std::string_view version = std::string_view(ref.api_version).substr(group.size() + 1);
  if (!is_dns_label(version) || !is_dns_label(ns) || !is_dns_subdomain(ref.name))
    return std::nullopt;
  std::string plural = ref.kind;
  std::transform(plural.begin(), plural.end(), plural.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return format("/apis/{}/{}/namespaces/{}/{}s/{}", group, version, ns, plural, ref.name);
}

Result<GangObject> read_gang_object(std::string_view text, KubeDecoder& decoder) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return fail(ErrorCode::kInvalidArgument, "it is not a JSON object");
  GangObject read;
  read.uid = Uid(text_member(member(object, "metadata"), "uid"));
  if (says_how_many(object)) read.spec.pods = pods_of(object, decoder);
  read.spec.later = later_of(object, decoder);
  read_clocks(object, read.spec);
  read.owner = owner_of(object);
  return read;
}

}  // namespace slackline::wire

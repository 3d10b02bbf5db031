#include "wire/gangs/gang_members.h"

#include <algorithm>

#include "wire/format/json_members.h"
#include "wire/gangs/owner_gang.h"

namespace slackline::wire {
namespace {

using nlohmann::json;

// Annotation of a LeaderWorkerSet: the workers come once their leader has a node.
constexpr const char* kLeaderOfGroupFirst = "leaderworkerset.sigs.k8s.io/exclusive-topology";
constexpr std::int64_t kMostOfRole = 1'000'000;  // so that sums stay far from overflow

std::int64_t count_member(const json& object, const char* key, std::int64_t otherwise) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_number_integer())
    return otherwise;
  return std::clamp<std::int64_t>(object[key].get<std::int64_t>(), 0, kMostOfRole);
}

bool waits_for_an_end(const json& dependency) {
  return text_member(dependency, "status") != "Ready";
}

// Of these Jobs the first pods get nodes, then the others come.
bool leaders_come_first(const json& set, const json& job) {
  const json pattern = member(job, "template");
  bool first = false;
  for (const json& of : {set, pattern, member(member(pattern, "spec"), "template")}) {
    const json annotations = member(member(of, "metadata"), "annotations");
    if (annotations.contains(kByNodeLabels)) return false;
    first = first || annotations.contains(kLeadersFirst);
  }
  return first;
}

void add_led_job(GangMembers&& all, std::vector<GangMembers>& members) {
  all.job_by_job = true;
  all.after.clear();
  const std::int64_t others = all.pods - all.in_jobs;
  GangMembers first = all;
  first.role = role_in_job(all.role, true);
  first.pods = all.in_jobs;
  all.after = {first.role};
  all.role = role_in_job(all.role, false);
  all.pods = others;
  members.push_back(std::move(first));
  if (others > 0) members.push_back(std::move(all));
}

std::vector<GangMembers> members_of_jobs(const json& set, bool after_ends) {
  const json spec = member(set, "spec");
  const bool in_order =
      text_member(member(spec, "startupPolicy"), "startupPolicyOrder") == "InOrder";
  std::vector<GangMembers> members;
  for (const json& job : list_member(spec, "replicatedJobs")) {
    std::vector<std::string> after;
    if (in_order && !members.empty()) after.push_back(members.back().role);
    const json waits_for = list_member(job, "dependsOn");
    if (std::any_of(waits_for.begin(), waits_for.end(), waits_for_an_end) != after_ends) continue;
    for (const json& other : waits_for)
      after.push_back(text_member(other, "name"));
    const json of_job = member(member(job, "template"), "spec");
    const std::int64_t at_a_time = count_member(of_job, "parallelism", 1);
    const std::int64_t jobs = count_member(job, "replicas", 1);
    GangMembers of_role{text_member(job, "name"), member(of_job, "template"),
                        jobs * std::min(at_a_time, count_member(of_job, "completions", at_a_time)),
                        std::move(after), jobs};
    if (of_role.pods >= jobs && leaders_come_first(set, job))
      add_led_job(std::move(of_role), members);
    else
      members.push_back(std::move(of_role));
  }
  return members;
}

std::vector<GangMembers> members_of_ray(const json& spec) {
  std::vector<GangMembers> members = {{"", member(member(spec, "headGroupSpec"), "template"), 1}};
  for (const json& group : list_member(spec, "workerGroupSpecs")) {
    if (true_member(group, "suspend")) continue;
    const std::int64_t least = count_member(group, "minReplicas", 0);
    const std::int64_t most = std::max(least, count_member(group, "maxReplicas", kMostOfRole));
    members.push_back({"", member(group, "template"),
                       std::clamp(count_member(group, "replicas", least), least, most) *
                           count_member(group, "numOfHosts", 1)});
  }
  return members;
}

// Its roles are the indices of the pods.
std::vector<GangMembers> members_of_group(const json& set) {
  const json spec = member(set, "spec");
  const json of_group = member(spec, "leaderWorkerTemplate");
  const json worker = member(of_group, "workerTemplate");
  const json leader = member(of_group, "leaderTemplate");
  const std::int64_t size = count_member(of_group, "size", 1);
  std::vector<std::string> after;
  if (text_member(spec, "startupPolicy") == "LeaderReady" ||
      member(member(set, "metadata"), "annotations").contains(kLeaderOfGroupFirst))
    after.emplace_back("0");
  return {{"0", leader.empty() ? worker : leader, 1},
          {"1", worker, std::max<std::int64_t>(0, size - 1), std::move(after)}};
}

// Of a PyTorchJob, an MPIJob and their like.
std::vector<GangMembers> members_of_roles(const json& spec) {
  const bool launcher_last = launcher_comes_last(spec);
  std::vector<GangMembers> members;
  for (const auto& [key, replicas] : spec.items()) {
    if (!key.ends_with("ReplicaSpecs") || !replicas.is_object()) continue;
    for (const auto& [role, of_role] : replicas.items())
      if (!launcher_last || role != "Launcher")
        members.push_back(
            {role, member(of_role, "template"), count_member(of_role, "replicas", 1)});
  }
  return members;
}

}  // namespace

std::vector<GangMembers> gang_members_of(const json& object) {
  const std::string kind = text_member(object, "kind");
  const json spec = member(object, "spec");
  if (kind == "JobSet") return members_of_jobs(object, false);
  if (kind == "RayCluster") return members_of_ray(spec);
  if (kind == "RayJob") return members_of_ray(member(spec, "rayClusterSpec"));
  if (kind == "RayService") return members_of_ray(member(spec, "rayClusterConfig"));
  if (kind == "LeaderWorkerSet") return members_of_group(object);
  return members_of_roles(spec);
}

std::vector<GangMembers> members_after_ends_of(const json& object) {
  if (text_member(object, "kind") != "JobSet") return {};
  return members_of_jobs(object, true);
}

bool launcher_comes_last(const json& spec) {
  return text_member(spec, "launcherCreationPolicy") == "WaitForWorkersReady";
}

}  // namespace slackline::wire

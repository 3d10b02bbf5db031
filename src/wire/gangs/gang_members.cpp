#include "wire/gangs/gang_members.h"

#include <algorithm>

#include "wire/format/json_members.h"

namespace slackline::wire {
namespace {

using nlohmann::json;

constexpr std::int64_t kMostOfRole = 1'000'000;  // so that sums stay far from overflow

std::int64_t count_member(const json& object, const char* key, std::int64_t otherwise) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_number_integer())
    return otherwise;
  return std::clamp<std::int64_t>(object[key].get<std::int64_t>(), 0, kMostOfRole);
}

std::vector<GangMembers> members_of_jobs(const json& spec) {
  const bool in_order =
      text_member(member(spec, "startupPolicy"), "startupPolicyOrder") == "InOrder";
  std::vector<GangMembers> members;
  for (const json& job : list_member(spec, "replicatedJobs")) {
    if (!list_member(job, "dependsOn").empty() || (in_order && !members.empty())) continue;
    const json of_job = member(member(job, "template"), "spec");
    members.push_back({text_member(job, "name"), member(of_job, "template"),
                       count_member(job, "replicas", 1) * count_member(of_job, "parallelism", 1)});
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

std::vector<GangMembers> members_of_group(const json& of_group) {
  const json worker = member(of_group, "workerTemplate");
  const json leader = member(of_group, "leaderTemplate");
  const std::int64_t size = count_member(of_group, "size", 1);
  return {{"", leader.empty() ? worker : leader, 1},
          {"", worker, std::max<std::int64_t>(0, size - 1)}};
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
  if (kind == "JobSet") return members_of_jobs(spec);
  if (kind == "RayCluster") return members_of_ray(spec);
  if (kind == "RayJob") return members_of_ray(member(spec, "rayClusterSpec"));
  if (kind == "RayService") return members_of_ray(member(spec, "rayClusterConfig"));
  if (kind == "LeaderWorkerSet") return members_of_group(member(spec, "leaderWorkerTemplate"));
  return members_of_roles(spec);
}

bool launcher_comes_last(const json& spec) {
  return text_member(spec, "launcherCreationPolicy") == "WaitForWorkersReady";
}

}  // namespace slackline::wire

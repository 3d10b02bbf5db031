#include "slackline/core/cluster/later_members.h"

#include <algorithm>
#include <map>
#include <set>

#include "slackline/base/duration.h"
#include "slackline/base/saturating.h"
#include "slackline/core/cluster/pools.h"
#include "slackline/core/planning/gpu_types.h"

namespace slackline::core {
namespace {

std::set<std::string> roles_of(const TaskParts& parts) {
  std::set<std::string> roles;
  for (const auto* pods : {&parts.bound, &parts.unbound, &parts.without_gpus})
    for (const PodPtr& pod : *pods)
      if (pod->owner_gang && !pod->deleting) roles.insert(pod->owner_gang->role);
  return roles;
}

// What must be together its controller may say of the first pods alone.
bool is_like(const Pod& pattern, const Pod& pod) {
  static const SchedulingConstraints kNone;
  const SchedulingConstraints& one = pattern.constraints ? *pattern.constraints : kNone;
  const SchedulingConstraints& other = pod.constraints ? *pod.constraints : kNone;
  OwnSpread spread = spread_of(&other);
  if (one.own_spread.together.empty()) spread.together.clear();
  return pattern.requests == pod.requests && one.node_selector == other.node_selector &&
         one.affinity_terms == other.affinity_terms && one.own_spread == spread;
}

// As it will be once its controller makes it.
PodPtr member_to_come(const TaskParts& parts, const Pod& pattern, const Pod& first) {
  const bool alike = is_like(pattern, first);
  auto pod = std::make_shared<Pod>(alike ? first : pattern);
  if (!alike) pod->uid = Uid();
  pod->key = {parts.key.ns, ""};
  pod->owner_gang = parts.gang;
  return pod;
}

// Of the type that has most, on nodes that may be used.
std::int64_t gpus_of_a_type(const ClusterSnapshot& snapshot, const std::string& resource) {
  std::map<GpuType, std::int64_t> gpus;
  std::int64_t most = 0;
  for (const NodeStatePtr& state : snapshot.nodes) {
    if (!is_usable(*state->node)) continue;
    std::int64_t& of_type = gpus[state->node->gpu_type];
    of_type = saturating_add(of_type, state->node->allocatable.gpu_count(resource));
    most = std::max(most, of_type);
  }
  return most;
}

// What comes once those of `parts` run, and what comes once that runs: in this order.
std::vector<const LaterMembers*> stages_after(const TaskParts& parts) {
  std::set<std::string> run = roles_of(parts);
  std::vector<const LaterMembers*> left;
  for (const LaterMembers& members : parts.spec.later)
    if (!run.contains(members.role)) left.push_back(&members);
  const auto comes = [&](const LaterMembers* members) {
    return std::all_of(members->after.begin(), members->after.end(),
                       [&](const std::string& role) { return run.contains(role); });
  };
  std::vector<const LaterMembers*> stages;
  for (auto next = std::find_if(left.begin(), left.end(), comes); next != left.end();
       next = std::find_if(left.begin(), left.end(), comes)) {
    stages.push_back(*next);
    run.insert((*next)->role);
    left.erase(next);
  }
  return stages;
}

}  // namespace

LaterPods later_members(const ClusterSnapshot& snapshot, const TaskParts& parts, const Pod& first) {
  LaterPods later;
  if (parts.spec.later.empty()) return later;
  const std::string resource = primary_gpu_resource(first.requests);
  const auto gpus_of = [&](const LaterMembers& members) {
    return members.pattern ? members.pattern->requests.gpu_count(resource) : 0;
  };
  std::vector<const LaterMembers*> stages = stages_after(parts);
  std::erase_if(stages, [&](const LaterMembers* members) { return gpus_of(*members) < 1; });
  std::int64_t all_gpus = 0;
  for (const PodPtr& pod : parts.unbound)
    if (!pod->deleting) all_gpus = saturating_add(all_gpus, pod->requests.gpu_count(resource));
  for (const LaterMembers* members : stages) {
    later.count = saturating_add(later.count, members->pods);
    later.most_gpus = std::max(later.most_gpus, gpus_of(*members));
    all_gpus = saturating_add(all_gpus, saturating_mul(gpus_of(*members), members->pods));
  }
  later.too_many = later.count > 0 && all_gpus > gpus_of_a_type(snapshot, resource);
  for (const LaterMembers* members : stages)
    later.pods.insert(later.pods.end(),
                      static_cast<std::size_t>(later.too_many ? 1 : members->pods),
                      member_to_come(parts, *members->pattern, first));
  return later;
}

bool any_to_come(const ClusterSnapshot& snapshot) {
  return snapshot.sightings &&
         std::any_of(snapshot.sightings->begin(), snapshot.sightings->end(),
                     [](const auto& entry) { return entry.second.awaits_others; });
}

std::optional<double> keeps_room_until_s(const ClusterSnapshot& snapshot, const Pod& pod) {
  if (!pod.plan || pod.plan->later < 1 || pod.deleting || pod.terminal()) return std::nullopt;
  const PlanSighting* seen = snapshot.sighting_of(pod.uid);
  return seen == nullptr ? kNever : seen->first_seen_s + kComeWithin_s;
}

}  // namespace slackline::core

#include "slackline/model/snapshot.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

namespace slackline {

HoldTable::HoldTable(std::size_t node_count, const std::vector<NodeIndex>& nodes,
                     std::vector<Hold> holds) {
  if (holds.empty()) return;
  // A counting sort.
  auto content = std::make_shared<Content>();
  std::vector<std::uint32_t>& begins = content->begins;
  begins.assign(node_count + 1, 0);
  for (const NodeIndex node : nodes)
    ++begins[node + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  std::vector<std::uint32_t> next(begins.begin(), begins.end() - 1);
  content->holds.resize(holds.size());
  for (std::size_t i = 0; i < holds.size(); ++i)
    content->holds[next[nodes[i]]++] = std::move(holds[i]);
  content_ = std::move(content);
}

bool ClusterSnapshot::fits(const Resources& request, const Resources& available) const {
  const auto is_known = [&](const ResourceAmount& other) {
    return node_table.lists(other.resource);
  };
  if (std::all_of(request.others.begin(), request.others.end(), is_known))
    return slackline::fits(request, available);
  Resources known = request;
  std::erase_if(known.others, std::not_fn(is_known));
  return slackline::fits(known, available);
}

std::optional<NodeIndex> ClusterSnapshot::find_node(std::string_view name) const {
  if (!node_names) return std::nullopt;
  return node_names->find(name);
}

const Job* ClusterSnapshot::find_job(const Uid& uid) const {
  for (const JobPtr& job : jobs)
    if (job->uid == uid) return job.get();
  return nullptr;
}

const Job* ClusterSnapshot::find_job(const std::string& ns, const std::string& name) const {
  const ObjectKey wanted{ns, name};
  const auto at =
      std::lower_bound(jobs.begin(), jobs.end(), wanted,
                       [](const JobPtr& job, const auto& key) { return job->key < key; });
  return at != jobs.end() && (*at)->key == wanted ? at->get() : nullptr;
}

const Namespace* ClusterSnapshot::find_namespace(const std::string& name) const {
  if (!namespaces) return nullptr;
  const auto at =
      std::lower_bound(namespaces->begin(), namespaces->end(), name,
                       [](const auto& ns, const std::string& key) { return ns->key.name < key; });
  return at != namespaces->end() && (*at)->key.name == name ? at->get() : nullptr;
}

PodPtr ClusterSnapshot::find_pod(const ObjectKey& key) const {
  if (PodPtr waiting = find_unbound(key)) return waiting;
  for (const NodeStatePtr& state : nodes)
    for (const PodPtr& pod : state->pods)
      if (pod->key == key) return pod;
  return nullptr;
}

PodPtr ClusterSnapshot::find_unbound(const ObjectKey& key) const {
  const auto at = std::lower_bound(
      unbound.begin(), unbound.end(), key,
      [](const PodPtr& pod, const ObjectKey& wanted) { return pod->key < wanted; });
  return at != unbound.end() && (*at)->key == key ? *at : nullptr;
}

const PlanSighting* ClusterSnapshot::sighting_of(const Uid& carrier) const {
  if (!sightings) return nullptr;
  const auto at = sightings->find(carrier);
  return at != sightings->end() ? &at->second : nullptr;
}

const GangSpec* ClusterSnapshot::spec_of_gang(const Uid& uid) const {
  if (!gang_specs) return nullptr;
  const auto at = gang_specs->find(uid);
  return at != gang_specs->end() ? &at->second : nullptr;
}

const std::string* device_class_of(const ServedByDevices& served, const Resources& requests) {
  if (served.empty()) return nullptr;
  for (const ResourceAmount& amount : requests.gpus) {
    const auto at = served.find(amount.resource);
    if (amount.count > 0 && at != served.end()) return &at->second;
  }
  return nullptr;
}

bool ClusterSnapshot::plans_for(const std::string& scheduler) const {
  return schedulers.empty() || is_default_scheduler(scheduler) ||
         std::find(schedulers.begin(), schedulers.end(), scheduler) != schedulers.end();
}

const Job* owning_job(const ClusterSnapshot& snapshot, const Pod& pod) {
  if (!pod.owner || pod.owner->kind != "Job") return nullptr;
  const Job* job = snapshot.find_job(pod.key.ns, pod.owner->name);
  return job != nullptr && job->uid == pod.owner->uid ? job : nullptr;
}

TaskIntent effective_intent(const ClusterSnapshot& snapshot, const Pod& pod) {
  static const TaskIntent kNone;
  const Job* job = owning_job(snapshot, pod);
  const TaskIntent& mine = pod.intent ? *pod.intent : kNone;
  const TaskIntent& owner = job != nullptr && job->intent ? *job->intent : kNone;
  return merge(mine, owner);
}

const PlanNote* effective_plan(const ClusterSnapshot& snapshot, const Pod& pod) {
  if (pod.plan) return pod.plan.get();
  const Job* job = owning_job(snapshot, pod);
  return job != nullptr ? job->plan.get() : nullptr;
}

}  // namespace slackline

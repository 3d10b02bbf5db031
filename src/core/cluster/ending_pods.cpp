#include "slackline/core/cluster/ending_pods.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace slackline::core {
namespace {

bool was_stopped(const Job& job) {
  return job.suspended && job.suspended_by_us && job.preemptions != nullptr;
}

// Where pods wait for others to end.
std::unordered_set<NodeName> promised_nodes(const ClusterSnapshot& snapshot) {
  std::unordered_set<NodeName> nodes;
  for (const PodPtr& pod : snapshot.unbound)
    if (pod->gated && pod->managed && !pod->nominated_node.empty())
      nodes.insert(pod->nominated_node);
  return nodes;
}

// Of a Job that was stopped, perhaps, and deleted since: no object says so any more.
bool outlives_its_job(const ClusterSnapshot& snapshot, const Pod& pod) {
  if (!pod.deleting || pod.disruption || !pod.managed || !pod.owner || pod.owner->kind != "Job")
    return false;
  const Job* job = snapshot.find_job(pod.key.ns, pod.owner->name);
  return job == nullptr || job->uid != pod.owner->uid;
}

}  // namespace

// Jobs count pods that are gone, and other controllers may give up.
bool is_replaced(const Pod& pod) {
  static constexpr std::array<std::string_view, 3> kReplacing = {"ReplicaSet", "StatefulSet",
                                                                 "ReplicationController"};
  return pod.owner &&
         std::find(kReplacing.begin(), kReplacing.end(), pod.owner->kind) != kReplacing.end();
}

bool serves(const Pod& pod) {
  return is_replaced(pod) || (pod.owner && pod.owner->kind == "DaemonSet");
}

bool was_evicted(const Pod& pod) {
  return pod.deleting && pod.notice && pod.managed && is_replaced(pod);
}

EndingPods::EndingPods(const ClusterSnapshot& snapshot, double now_wall_s) {
  for (const JobPtr& job : snapshot.jobs)
    if (was_stopped(*job)) add(snapshot, *job, now_wall_s);
  const std::unordered_set<NodeName> promised = promised_nodes(snapshot);
  for (NodeIndex node = 0; node < snapshot.nodes.size(); ++node) {
    const bool is_promised = promised.contains(snapshot.node(node).node->name);
    for (const PodPtr& pod : snapshot.node(node).pods) {
      const bool evicted = was_evicted(*pod);
      if (pod->terminal() || (!evicted && !(is_promised && outlives_its_job(snapshot, *pod))))
        continue;
      const double told_s = evicted ? pod->notice->at_s : 0;
      if (now_wall_s <= std::max(pod->gone_by_s.value_or(0), told_s) + kOverdue_s) add(node, pod);
    }
  }
}

void EndingPods::add(const ClusterSnapshot& snapshot, const Job& job, double now_s) {
  for (const NodeName& name : job.preemptions->nodes) {
    const auto node = snapshot.find_node(name.str());
    if (!node) continue;
    for (const PodPtr& pod : snapshot.node(*node).pods) {
      if (!pod->owner || pod->owner->uid != job.uid || pod->terminal()) continue;
      if (pod->disruption) continue;
      // Before that its controller has asked no pod to end.
      const double ends_s = pod->gone_by_s.value_or(job.halted ? job.preemptions->at_s : now_s);
      if (now_s > ends_s + kOverdue_s) continue;
      jobs_.insert(job.uid);
      add(*node, pod);
    }
  }
}

void EndingPods::add(NodeIndex node, const PodPtr& pod) {
  pods_.push_back(pod);
  uids_.insert(pod->uid);
  held_[node] += pod->requests;
}

const Resources* EndingPods::held_on(NodeIndex node) const {
  const auto at = held_.find(node);
  return at == held_.end() ? nullptr : &at->second;
}

}  // namespace slackline::core

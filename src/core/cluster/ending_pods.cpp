#include "slackline/core/cluster/ending_pods.h"

namespace slackline::core {
namespace {

bool was_stopped(const Job& job) {
  return job.suspended && job.suspended_by_us && job.preemptions != nullptr;
}

}  // namespace

EndingPods::EndingPods(const ClusterSnapshot& snapshot, double now_wall_s) {
  for (const JobPtr& job : snapshot.jobs)
    if (was_stopped(*job)) add(snapshot, *job, now_wall_s);
}

void EndingPods::add(const ClusterSnapshot& snapshot, const Job& job, double now_s) {
  for (const NodeName& name : job.preemptions->nodes) {
    const auto node = snapshot.find_node(name.str());
    if (!node) continue;
    for (const PodPtr& pod : snapshot.node(*node).pods) {
      if (!pod->owner || pod->owner->uid != job.uid || pod->terminal()) continue;
      if (pod->disruption) continue;
      if (now_s > pod->gone_by_s.value_or(job.preemptions->at_s) + kOverdue_s) continue;
      pods_.push_back(pod);
      uids_.insert(pod->uid);
      jobs_.insert(job.uid);
      held_[*node] += pod->requests;
    }
  }
}

const Resources* EndingPods::held_on(NodeIndex node) const {
  const auto at = held_.find(node);
  return at == held_.end() ? nullptr : &at->second;
}

}  // namespace slackline::core

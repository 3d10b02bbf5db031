#include "ending_pods.h"

#include <algorithm>

namespace slackline::core {
namespace {

bool was_stopped(const Job& job) {
  return job.suspended && job.suspended_by_us && job.preemptions != nullptr;
}

}  // namespace

EndingPods::EndingPods(const ClusterSnapshot& snapshot, double now_wall_s)
    : snapshot_(snapshot), now_s_(now_wall_s) {
  for (const JobPtr& job : snapshot.jobs)
    if (was_stopped(*job)) add(*job);
}

void EndingPods::add(const Job& job) {
  for (const NodeName& name : job.preemptions->nodes) {
    const auto node = snapshot_.find_node(name.str());
    if (!node) continue;
    for (const PodPtr& pod : snapshot_.node(*node).pods) {
      if (!pod->owner || pod->owner->uid != job.uid || !contains(*pod)) continue;
      pods_.push_back(pod);
      held_[*node] += pod->requests;
    }
  }
}

const Resources* EndingPods::held_on(NodeIndex node) const {
  const auto at = held_.find(node);
  return at == held_.end() ? nullptr : &at->second;
}

bool EndingPods::any_of(const Job& job) const {
  return std::any_of(pods_.begin(), pods_.end(),
                     [&](const PodPtr& pod) { return pod->owner->uid == job.uid; });
}

bool EndingPods::contains(const Pod& pod) const {
  if (!pod.bound() || pod.terminal()) return false;
  const Job* job = owning_job(snapshot_, pod);
  if (job == nullptr || !was_stopped(*job)) return false;
  return now_s_ <= pod.gone_by_s.value_or(job->preemptions->at_s) + kOverdue_s;
}

}  // namespace slackline::core

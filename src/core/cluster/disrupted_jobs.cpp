#include "slackline/core/cluster/disrupted_jobs.h"

#include <algorithm>
#include <cmath>

#include "slackline/base/duration.h"

namespace slackline::core {

bool is_of_present_run(const Pod& pod, const Job& job) {
  if (!job.started_s || pod.created_s >= *job.started_s) return true;
  if (pod.created_s < *job.started_s - kStartLag_s) return false;
  return !job.preemptions || pod.created_s >= std::floor(job.preemptions->at_s);
}

DisruptedJobs::DisruptedJobs(const ClusterSnapshot& snapshot, double now_wall_s)
    : now_s_(now_wall_s) {
  for (const PodPtr& pod : snapshot.displaced)
    if (pod->owner && (pod->disruption || !pod->terminal()))  // else it failed by itself
      displaced_[pod->owner->uid].push_back(pod);
  for (const NodeStatePtr& state : snapshot.nodes)
    if (!state->node->ready && state->node->unready_since_s)
      unready_.emplace(state->node->name, *state->node->unready_since_s);
}

std::optional<PodDisruption> DisruptedJobs::of(const Job& job,
                                               const std::vector<PodPtr>& bound) const {
  if (job.finished || job.suspended || !job.resumed || !job.started_s) return std::nullopt;
  std::optional<PodDisruption> first;
  const auto look_at = [&](const Pod& pod, std::optional<PodDisruption> found) {
    if (!found || !is_of_present_run(pod, job)) return;
    // What it was stopped for, and has ended. Pods tell only the second in which they were made.
    if (pod.terminal() && job.preemptions && found->at_s <= job.preemptions->at_s) return;
    if (!first || found->at_s < first->at_s) first = found;
  };
  if (const auto at = displaced_.find(job.uid); at != displaced_.end())
    for (const PodPtr& pod : at->second)
      look_at(*pod,
              pod->disruption ? pod->disruption : PodDisruption{DisruptionKind::kNodeGone, now_s_});
  for (const PodPtr& pod : bound)
    look_at(*pod, of(*pod));
  return first;
}

std::optional<PodDisruption> DisruptedJobs::of(const Pod& pod) const {
  if (pod.disruption || unready_.empty()) return pod.disruption;
  const auto node = unready_.find(pod.node);
  if (node == unready_.end() || now_s_ < node->second + kNodeDownAfter_s) return std::nullopt;
  return PodDisruption{DisruptionKind::kNodeNotReady, node->second};
}

double next_node_down_s(const ClusterSnapshot& snapshot, double now_wall_s) {
  double next_s = kNever;
  for (const NodeStatePtr& state : snapshot.nodes) {
    if (state->node->ready || !state->node->unready_since_s) continue;
    const double down_s = *state->node->unready_since_s + kNodeDownAfter_s;
    if (down_s > now_wall_s) next_s = std::min(next_s, down_s);
  }
  return next_s;
}

std::vector<PodPtr> pods_that_cannot_come_back(const ClusterSnapshot& snapshot) {
  std::vector<PodPtr> pods;
  for (const PodPtr& pod : snapshot.displaced)
    if (!pod->owner && pod->disruption) pods.push_back(pod);
  return pods;
}

}  // namespace slackline::core

#include "slackline/core/shadow/stock_queue.h"

#include <unordered_set>
#include <utility>

#include "slackline/core/cluster/holds.h"

namespace slackline::core {
namespace {

bool is_topmost(const std::optional<OwnerRef>& owner) {
  return !owner || owner->kind == "CronJob";
}

bool is_free(const Job& job) {
  return !job.finished && !job.suspended && job.plan == nullptr;
}

// Slackline's to manage, not held back, and not on a node.
bool waits_for_scheduler(const ClusterSnapshot& snapshot, const Pod& pod) {
  if (pod.bound() || pod.terminal() || pod.deleting || pod.gated || pod.in_pod_group || pod.plan ||
      !pod.problems.empty() || !pod.requests.wants_gpus())
    return false;
  if (const Job* job = owning_job(snapshot, pod))
    return is_free(*job) && is_topmost(job->owner) && (pod.managed || pod.intent || job->intent);
  return pod.managed || (pod.intent && !pod.owner);
}

PodPtr as_gated(const Pod& pod) {
  auto gated = std::make_shared<Pod>(pod);
  gated->managed = true;
  gated->gated = gated->our_gate = true;
  return gated;
}

}  // namespace

bool queues_as_one(const Job& job) {
  if (!is_topmost(job.owner) || !(job.managed || job.intent) || !job.problems.empty() ||
      !job.pod_requests.wants_gpus())
    return false;
  return job.is_gang() || (job.parallelism == 1 && job.completions.value_or(1) == 1);
}

JobPtr as_waiting(const Job& job) {
  auto waits = std::make_shared<Job>(job);
  waits->suspended = waits->suspended_by_us = waits->halted = true;
  waits->finished = false;
  waits->plan = nullptr;
  waits->active = 0;
  return waits;
}

ClusterSnapshot with_stock_queue(const ClusterSnapshot& snapshot) {
  ClusterSnapshot queued = snapshot;
  std::unordered_set<Uid> begun;  // owners of bound pods
  for (const NodeStatePtr& state : snapshot.nodes)
    for (const PodPtr& pod : state->pods)
      if (pod->owner) begun.insert(pod->owner->uid);
  std::unordered_set<Uid> held;
  for (JobPtr& job : queued.jobs) {
    if (!queues_as_one(*job) || !is_free(*job) || begun.contains(job->uid)) continue;
    held.insert(job->uid);
    job = as_waiting(*job);
  }
  std::vector<PodPtr> unbound;
  unbound.reserve(queued.unbound.size());
  for (PodPtr& pod : queued.unbound) {
    if (pod->owner && held.contains(pod->owner->uid)) continue;
    unbound.push_back(waits_for_scheduler(snapshot, *pod) ? as_gated(*pod) : std::move(pod));
  }
  queued.unbound = std::move(unbound);
  return queued;
}

}  // namespace slackline::core

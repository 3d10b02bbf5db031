#include "slackline/core/shadow/stock_queue.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

#include "slackline/base/saturating.h"
#include "slackline/core/cluster/holds.h"
#include "slackline/core/cluster/quotas.h"
#include "slackline/core/cluster/task_catalog.h"

namespace slackline::core {
namespace {

bool starts_as_one(const Job& job) {
  return job.topmost() && job.problems.empty() && job.pod_requests.wants_gpus() &&
         !starts_one_by_one(job);
}

bool is_free(const Job& job) {
  return !job.finished && !job.deleting && job.plan == nullptr && !job.holds_pods;
}

class StockQueue {
 public:
  StockQueue(const ClusterSnapshot& snapshot, StockScope scope)
      : snapshot_(snapshot), scope_(scope) {}

  bool considers(const Job& job) const {
    return is_free(job) && plannable(job.pod_requests) && snapshot_.plans_for(job.scheduler_name) &&
           (job.managed || job.intent || covers(job.key.ns));
  }

  // Not held back, and not on a node.
  bool waits_for_scheduler(const Pod& pod) const {
    if (pod.bound() || pod.terminal() || pod.deleting || pod.gated || pod.in_pod_group ||
        pod.plan || !pod.problems.empty() || !pod.requests.wants_gpus() ||
        !plannable(pod.requests) || !snapshot_.plans_for(pod.scheduler_name))
      return false;
    const bool all = scope_ == StockScope::kAll;
    if (const Job* job = owning_job(snapshot_, pod))
      return is_free(*job) && !job->suspended && !job->kueue &&
             (all || job->topmost() || job->owner_gang) &&
             (pod.managed || pod.intent || job->intent || covers(pod.key.ns));
    const bool in_scope = pod.intent || covers(pod.key.ns);
    return pod.managed || ((!pod.owner || pod.owner_gang) && in_scope) || all;
  }

 private:
  bool plannable(const Resources& requests) const {
    return device_class_of(snapshot_.served_by_devices, requests) == nullptr;
  }
  bool covers(const std::string& name) const {
    if (scope_ == StockScope::kAll) return true;
    const Namespace* ns = snapshot_.find_namespace(name);
    return ns != nullptr && ns->managed;
  }

  const ClusterSnapshot& snapshot_;
  const StockScope scope_;
};

JobPtr as_managed(const Job& job) {
  auto managed = std::make_shared<Job>(job);
  managed->managed = true;
  return managed;
}

PodPtr as_gated(const Pod& pod) {
  auto gated = std::make_shared<Pod>(pod);
  gated->managed = true;
  gated->gated = gated->our_gate = true;
  return gated;
}

// As if these pods had never been: what the API server counts of them is given back.
void give_back_quotas(const std::vector<PodPtr>& dropped, ClusterSnapshot& snapshot) {
  if (dropped.empty()) return;
  std::map<std::string, std::vector<const Pod*>> by_namespace;
  for (const PodPtr& pod : dropped)
    by_namespace[pod->key.ns].push_back(pod.get());
  for (auto& quota : snapshot.quotas) {
    const auto at = by_namespace.find(quota->key.ns);
    if (at == by_namespace.end()) continue;
    auto lowered = std::make_shared<ResourceQuota>(*quota);
    for (const Pod* pod : at->second)
      for (QuotaLimit& limit : lowered->limits)
        if (covers(*quota, pod->requests))
          limit.used = std::max<std::int64_t>(
              0, saturating_sub(limit.used, amount_of(pod->requests, limit.resource)));
    quota = std::move(lowered);
  }
}

}  // namespace

bool queues_as_one(const ClusterSnapshot& snapshot, const Job& job, StockScope scope) {
  const bool is_ours = job.managed || job.intent != nullptr;
  const bool others_too = scope == StockScope::kAll && !job.kueue;
  return (is_ours || others_too) && starts_as_one(job) && snapshot.plans_for(job.scheduler_name);
}

JobPtr as_waiting(const Job& job) {
  auto waits = std::make_shared<Job>(job);
  waits->suspended = waits->suspended_by_us = waits->halted = true;
  waits->finished = false;
  waits->plan = nullptr;
  waits->active = 0;
  return waits;
}

ClusterSnapshot with_stock_queue(const ClusterSnapshot& snapshot, StockScope scope) {
  const StockQueue stock(snapshot, scope);
  ClusterSnapshot queued = snapshot;
  std::unordered_set<Uid> begun;  // owners of bound pods
  for (const NodeStatePtr& state : snapshot.nodes)
    for (const PodPtr& pod : state->pods)
      if (pod->owner) begun.insert(pod->owner->uid);
  std::unordered_set<Uid> held;
  for (JobPtr& job : queued.jobs) {
    if (!starts_as_one(*job) || !stock.considers(*job) || begun.contains(job->uid)) continue;
    if (job->suspended) {
      if (!job->suspended_by_us && !job->managed) job = as_managed(*job);
      continue;
    }
    held.insert(job->uid);
    job = as_waiting(*job);
  }
  std::vector<PodPtr> unbound;
  unbound.reserve(queued.unbound.size());
  std::vector<PodPtr> dropped;
  for (PodPtr& pod : queued.unbound) {
    if (pod->owner && held.contains(pod->owner->uid))
      dropped.push_back(std::move(pod));
    else
      unbound.push_back(stock.waits_for_scheduler(*pod) ? as_gated(*pod) : std::move(pod));
  }
  queued.unbound = std::move(unbound);
  give_back_quotas(dropped, queued);
  queued.stock_queue = true;
  return queued;
}

}  // namespace slackline::core

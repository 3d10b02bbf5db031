#include "control/plan/preemption_meters.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace slackline::control {
namespace {

std::vector<double> freed_bounds_s() {
  return {0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 45, 60, 120, 300, 600};
}

std::vector<double> again_bounds_s() {
  return {1, 5, 15, 60, 300, 900, 1800, 3600, 7200, 14400, 28800, 86400};
}

bool has_pods(const ClusterSnapshot& snapshot, const Job& job) {
  for (const NodeName& name : job.preemptions->nodes) {
    const auto node = snapshot.find_node(name.str());
    if (!node) continue;
    for (const PodPtr& pod : snapshot.node(*node).pods)
      if (pod->owner && pod->owner->uid == job.uid && !pod->terminal()) return true;
  }
  return false;
}

std::string class_of(const TaskIntent* intent) {
  const auto qos = intent != nullptr ? intent->qos_class : std::nullopt;
  return std::string(to_string(qos.value_or(QosClass::kNormal)));
}

}  // namespace

void PreemptionMeters::forget() {
  stops_.clear();
  met_ = false;
}

void PreemptionMeters::see(const ClusterSnapshot& snapshot, const core::Queue& queue,
                           const std::unordered_set<Uid>& unanswered, double now_steady_s) {
  std::unordered_set<Uid> there;
  for (const JobPtr& job : snapshot.jobs) {
    if (!job->preemptions || job->finished) continue;
    there.insert(job->uid);
    if (!unanswered.contains(job->uid)) see(*job, now_steady_s);
  }
  std::erase_if(stops_, [&](const auto& entry) { return !there.contains(entry.first); });
  met_ = true;
  free_gpus(snapshot, now_steady_s);
  run_again(queue, now_steady_s);
}

void PreemptionMeters::see(const Job& job, double now_s) {
  Stop& stop = stops_[job.uid];
  if (stop.count == job.preemptions->count) return;
  const bool for_a_task = job.preemptions->by.empty();
  stop = {.count = job.preemptions->count};
  if (met_ && for_a_task && job.suspended) stop.since_s = now_s;
}

void PreemptionMeters::free_gpus(const ClusterSnapshot& snapshot, double now_s) {
  for (const JobPtr& job : snapshot.jobs) {
    const auto at = job->preemptions ? stops_.find(job->uid) : stops_.end();
    if (at == stops_.end() || !at->second.since_s || at->second.freed) continue;
    if (has_pods(snapshot, *job)) continue;
    at->second.freed = true;
    metrics_
        .histogram("slackline_preemption_requested_to_free_seconds", freed_bounds_s(),
                   {{"class", class_of(job->intent.get())}})
        .observe(now_s - *at->second.since_s);
  }
}

void PreemptionMeters::run_again(const core::Queue& queue, double now_s) {
  for (core::TaskIndex index = 0; index < queue.size(); ++index) {
    const core::QueueTask& task = queue.task(index);
    if (!task.plan || !task.job || !task.pods.empty() || task.bound.empty()) continue;
    const auto at = stops_.find(task.uid);
    if (at == stops_.end() || !at->second.since_s || !at->second.freed) continue;
    if (static_cast<std::int64_t>(task.bound.size()) < task.job->wanted_pods()) continue;
    metrics_
        .histogram("slackline_preemption_stop_to_running_again_seconds", again_bounds_s(),
                   {{"class", class_of(task.intent.get())}})
        .observe(now_s - *at->second.since_s);
    at->second.since_s.reset();
  }
}

}  // namespace slackline::control

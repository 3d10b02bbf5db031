#include "slackline/core/answers/variants.h"

#include <algorithm>
#include <utility>

namespace slackline::core {

Variant as_variant(const Job& job, const std::string& uid) {
  auto waits = std::make_shared<Job>(job);
  waits->uid = Uid(uid);
  waits->suspended = waits->suspended_by_us = waits->halted = waits->managed = true;
  waits->finished = waits->unproven = false;
  waits->plan = nullptr;
  waits->active = waits->terminating = 0;
  return {std::move(waits), nullptr};
}

Variant as_variant(const Pod& pod, const std::string& uid) {
  auto waits = std::make_shared<Pod>(pod);
  waits->uid = Uid(uid);
  waits->key.name += "-" + uid;
  waits->managed = waits->gated = waits->our_gate = true;
  waits->foreign_gate = waits->deleting = waits->unproven = false;
  waits->node = NodeName();
  waits->nominated_node = NodeName();
  waits->plan = nullptr;
  return {nullptr, std::move(waits)};
}

Variant variant_of(const QueueTask& task, const std::string& uid) {
  if (task.kind == TaskKind::kGang) return {};
  if (task.job && task.job->suspended) return as_variant(*task.job, uid);
  return task.pods.size() == 1 ? as_variant(*task.pods.front(), uid) : Variant{};
}

TaskIntent& changed_intent(Variant& variant) {
  const auto& before = variant.job ? variant.job->intent : variant.pod->intent;
  auto intent = std::make_shared<TaskIntent>(before ? *before : TaskIntent{});
  TaskIntent& changed = *intent;
  if (variant.job) {
    auto job = std::make_shared<Job>(*variant.job);
    job->intent = std::move(intent);
    variant.job = std::move(job);
  } else {
    auto pod = std::make_shared<Pod>(*variant.pod);
    pod->intent = std::move(intent);
    variant.pod = std::move(pod);
  }
  return changed;
}

ClusterSnapshot with_variants(const ClusterSnapshot& snapshot,
                              const std::vector<Variant>& variants) {
  ClusterSnapshot more = snapshot;
  for (const Variant& variant : variants) {
    if (variant.job) more.jobs.push_back(variant.job);
    if (variant.pod) more.unbound.push_back(variant.pod);
  }
  std::stable_sort(more.jobs.begin(), more.jobs.end(),
                   [](const JobPtr& a, const JobPtr& b) { return a->key < b->key; });
  std::stable_sort(more.unbound.begin(), more.unbound.end(),
                   [](const PodPtr& a, const PodPtr& b) { return a->key < b->key; });
  return more;
}

TaskIndex find_task(const Queue& queue, const Uid& uid) {
  TaskIndex task = 0;
  while (task < queue.size() && queue.task(task).uid != uid)
    ++task;
  return task;
}

}  // namespace slackline::core

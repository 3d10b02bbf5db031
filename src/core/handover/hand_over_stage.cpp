#include "slackline/core/handover/hand_over_stage.h"

#include <algorithm>
#include <cmath>

#include "slackline/base/duration.h"
#include "slackline/core/cluster/each_pod.h"
#include "slackline/core/cluster/holds.h"
#include "slackline/core/cluster/predicates.h"
#include "slackline/core/cluster/task_catalog.h"

namespace slackline::core {
namespace {

class Gathering {
 public:
  explicit Gathering(const ClusterSnapshot& snapshot) : snapshot_(snapshot) {}

  std::vector<PlannedTask> run() {
    for (const JobPtr& job : snapshot_.jobs) {
      if (!job->plan || job->suspended || job->finished || job->deleting || !job->managed) continue;
      PlannedTask& task = task_of(job->uid);
      task.name = job->uid;
      task.job = job.get();
      task.plan = job->plan;
      task.wanted = job->wanted_pods();
    }
    for (const PodPtr& pod : snapshot_.unbound)
      if (!pod->deleting && !pod->terminal()) add(pod);
    for (const NodeStatePtr& state : snapshot_.nodes)
      for (const PodPtr& pod : state->pods)
        add(pod);
    return std::move(tasks_);
  }

 private:
  void add(const PodPtr& pod) {
    PlannedTask* task = nullptr;
    const auto at = pod->owner ? by_id_.find(pod->owner->uid) : by_id_.end();
    if (pod->plan && pod->managed) {
      if (!pod->bound() && owner_is_deleted(*pod)) return;
      task = &task_of(Uid(pod->key.ns + "/" + pod->plan->id));
      if (task->plan == nullptr) task->name = refused_as(snapshot_, nullptr, *pod);
      task->plan = pod->plan;
      task->wanted = std::ssize(pod->plan->nodes) - pod->plan->later;
    } else if (at != by_id_.end()) {
      task = &tasks_[at->second];
    }
    if (task == nullptr) return;
    if (pod->bound()) {
      if (pod->deleting) return;
      task->bound.push_back(pod->node);
      if (task->job == nullptr) task->carriers.push_back(pod);
    } else if (!pod->foreign_gate) {
      task->unbound.push_back(pod);
      if (!pod->gated && node_is_lost(*pod)) task->on_lost_nodes.insert(pod->uid);
    }
  }

  // It has left the queue, whatever finalizer keeps it.
  bool owner_is_deleted(const Pod& pod) const {
    const Job* job = owning_job(snapshot_, pod);
    return job != nullptr && job->deleting;
  }

  PlannedTask& task_of(const Uid& id) {
    const auto [at, first] = by_id_.try_emplace(id, tasks_.size());
    if (first) tasks_.emplace_back().id = id;
    return tasks_[at->second];
  }

  // Does not check room: kube-scheduler may be binding the pod right now.
  bool node_is_lost(const Pod& pod) const {
    if (pod.nominated_node.empty()) return false;
    const auto index = snapshot_.find_node(pod.nominated_node.str());
    return !index || misfit(pod, *snapshot_.node(*index).node);
  }

  const ClusterSnapshot& snapshot_;
  std::vector<PlannedTask> tasks_;
  std::unordered_map<Uid, std::size_t> by_id_;  // of tasks_
};

// Pods of a Job are given up before it grows. Those that nobody can take back move on, ever less
// often.
double unbound_after_s(int misses) {
  double after_s = kUnboundAfter_s;
  for (int miss = kMostMisses; miss <= misses && after_s < kMostBackoff_s; ++miss)
    after_s *= 2;
  return std::min(after_s, kMostBackoff_s);
}

constexpr double kLookedAtAgain_s = 60;

NodeName place_of(const Pod& pod) {
  if (pod.bound()) return pod.node;
  if (!pod.nominated_node.empty() || !pod.plan || pod.plan->nodes.empty())
    return pod.nominated_node;
  return pod.plan->nodes.front();
}

// Of pods that wait and may not share a node with others of their controller, that start by
// themselves as well: where these are.
RefusedNodes nodes_of_siblings(const ClusterSnapshot& snapshot, double now_s) {
  std::unordered_set<Uid> owners;
  for (const PodPtr& pod : snapshot.unbound)
    if (pod->our_gate && !pod->plan && !pod->deleting && pod->owner &&
        spread_of(pod->constraints.get()).most)
      if (Uid name = refused_as(snapshot, nullptr, *pod); name == pod->owner->uid)
        owners.insert(std::move(name));
  RefusedNodes all;
  if (owners.empty()) return all;
  const Refusal refusal{
      (std::floor(now_s / kLookedAtAgain_s) + 2) * kLookedAtAgain_s,
      "a pod of the same controller is there, which may not share a node with it"};
  each_pod(snapshot, [&](const Pod& pod) {
    if (!pod.owner || pod.terminal() || !owners.contains(pod.owner->uid)) return;
    const NodeName node = place_of(pod);
    if (!node.empty() && spread_of(pod.constraints.get()).most)
      all[pod.owner->uid].try_emplace(node, refusal);
  });
  return all;
}

}  // namespace

std::vector<PlannedTask> planned_tasks(const ClusterSnapshot& snapshot) {
  return Gathering(snapshot).run();
}

bool is_left_alone(const PlannedTask& task, const Pod& pod, const HandOverMemory& memory,
                   double now_s) {
  return !pod.gated && !memory.missed(pod, now_s) && !task.on_lost_nodes.contains(pod.uid) &&
         !memory.never_nominated(pod);
}

Stage stage_of(const PlannedTask& task, const HandOverMemory& memory, double now_s) {
  if (task.waits_for_pods())
    return now_s < memory.pods_due.at(task.id) ? Stage::kReleased : Stage::kIncomplete;
  if (task.unbound.empty()) return Stage::kBound;
  const auto of_all = [&](auto holds) {
    return std::all_of(task.unbound.begin(), task.unbound.end(),
                       [&](const PodPtr& pod) { return holds(*pod); });
  };
  const bool has_chances = of_all([&](const Pod& pod) {
    return !memory.is_overdue(pod, now_s) || memory.misses(pod) + 1 < kMostMisses;
  });
  if (task.job != nullptr && !has_chances) return Stage::kGivenUp;
  const bool lifted =
      of_all([&](const Pod& pod) { return is_left_alone(task, pod, memory, now_s); });
  return lifted ? Stage::kLifted : Stage::kPlacing;
}

void HandOverMemory::see(const std::vector<PlannedTask>& tasks, double now_s) {
  std::unordered_set<Uid> ids;
  std::unordered_set<Uid> pods;
  for (const PlannedTask& task : tasks) {
    ids.insert(task.id);
    // Of a task that has run, pods are missing because they ended; others may follow.
    const bool runs = !task.bound.empty();
    const bool ran = task.job != nullptr && task.job->failed + task.job->succeeded > 0;
    const double due_s = now_s + kIncompleteAfter_s + (ran ? kReplacedWithin_s : 0);
    const auto due = pods_due.try_emplace(task.id, runs ? kNever : due_s).first;
    if (runs)
      due->second = kNever;
    else if (due->second == kNever)
      due->second = now_s + kIncompleteAfter_s + kReplacedWithin_s;
    for (const PodPtr& pod : task.unbound)
      pods.insert(pod->uid);
    if (awaits_replacements(task.job, task.bound.size(), task.unbound))
      replaces_since.try_emplace(task.id, now_s);
    else
      replaces_since.erase(task.id);
  }
  std::erase_if(replaces_since, [&](const auto& entry) { return !ids.contains(entry.first); });
  std::erase_if(pods_due, [&](const auto& entry) { return !ids.contains(entry.first); });
  std::erase_if(lifted, [&](const auto& entry) { return !pods.contains(entry.first); });
  for (auto& [task, nodes] : refused)
    std::erase_if(nodes, [&](const auto& node) { return node.second.until_s <= now_s; });
  std::erase_if(refused, [](const auto& entry) { return entry.second.empty(); });
  std::erase_if(backoff,
                [&](const auto& entry) { return entry.second.until_s + kMostBackoff_s < now_s; });
}

void HandOverMemory::see_lifted(const PlannedTask& task, double now_s) {
  if (task.waits_for_pods()) return;
  for (const PodPtr& pod : task.unbound) {
    if (pod->gated) continue;
    const auto [at, first] = lifted.try_emplace(pod->uid);
    Lifted& entry = at->second;
    const bool moved = !pod->nominated_node.empty() && pod->nominated_node != entry.node;
    if (first || moved) entry.since_s = now_s;
    if (!moved) continue;
    entry.node = pod->nominated_node;
    entry.to_move = false;
  }
}

void HandOverMemory::count_misses(const PlannedTask& task, double now_s) {
  for (const PodPtr& pod : task.unbound) {
    if (!is_overdue(*pod, now_s)) continue;
    Lifted& entry = lifted.at(pod->uid);
    entry.since_s = now_s;
    entry.to_move = true;
    if (pod->unschedulable && !entry.node.empty())
      refused[task.name][entry.node] = {now_s + kRefusedFor_s, *pod->unschedulable};
    if (++entry.misses >= kMostMisses && task.job != nullptr) return;
  }
}

bool HandOverMemory::is_overdue(const Pod& pod, double now_s) const {
  const auto at = lifted.find(pod.uid);
  return !pod.gated && at != lifted.end() &&
         now_s - at->second.since_s >= unbound_after_s(at->second.misses);
}

bool HandOverMemory::missed(const Pod& pod, double now_s) const {
  const auto at = lifted.find(pod.uid);
  return !pod.gated && at != lifted.end() && (at->second.to_move || is_overdue(pod, now_s));
}

int HandOverMemory::misses(const Pod& pod) const {
  const auto at = lifted.find(pod.uid);
  return at == lifted.end() ? 0 : at->second.misses;
}

bool HandOverMemory::never_nominated(const Pod& pod) const {
  const auto at = lifted.find(pod.uid);
  return pod.nominated_node.empty() && at != lifted.end() && at->second.node.empty();
}

bool HandOverMemory::is_refused(const Uid& task, const NodeName& node, double now_s) const {
  const auto nodes = refused.find(task);
  if (nodes == refused.end()) return false;
  const auto at = nodes->second.find(node);
  return at != nodes->second.end() && at->second.until_s > now_s;
}

RefusedNodes HandOverMemory::refused_nodes(const ClusterSnapshot& snapshot, double now_s) const {
  RefusedNodes all = nodes_of_siblings(snapshot, now_s);
  for (const auto& [task, nodes] : refused)
    for (const auto& [node, refusal] : nodes)
      if (refusal.until_s > now_s) all[task].insert_or_assign(node, refusal);
  return all;
}

std::unordered_set<Uid> HandOverMemory::held_off(double now_s) const {
  std::unordered_set<Uid> jobs;
  for (const auto& [uid, entry] : backoff)
    if (entry.until_s > now_s) jobs.insert(uid);
  return jobs;
}

double HandOverMemory::next_let_in_s(double now_s) const {
  double next_s = kNever;
  for (const auto& [uid, entry] : backoff)
    if (entry.until_s > now_s) next_s = std::min(next_s, entry.until_s);
  for (const auto& [uid, nodes] : refused)
    for (const auto& [node, refusal] : nodes)
      if (refusal.until_s > now_s) next_s = std::min(next_s, refusal.until_s);
  return next_s;
}

}  // namespace slackline::core

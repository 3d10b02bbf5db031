#include "slackline/core/cluster/lost_members.h"

#include <algorithm>
#include <vector>

#include "slackline/base/text.h"
#include "slackline/core/cluster/disrupted_jobs.h"
#include "slackline/core/cluster/holds.h"
#include "slackline/core/cluster/task_catalog.h"

namespace slackline::core {
namespace {

bool is_member_of(const Pod& pod, const QueueTask& task) {
  if (task.job) return pod.owner && pod.owner->uid == task.job->uid;
  return pod.plan && pod.plan->id == task.plan->id && pod.key.ns == task.key.ns;
}

std::vector<PodPtr> bound_members(const ClusterSnapshot& snapshot, const QueueTask& task) {
  if (task.job) return task.bound;
  std::vector<PodPtr> members;
  for (const NodeName& name : std::set<NodeName>(task.plan->nodes.begin(), task.plan->nodes.end()))
    if (const auto node = snapshot.find_node(name.str()))
      for (const PodPtr& pod : snapshot.node(*node).pods)
        if (is_member_of(*pod, task) && !pod->terminal()) members.push_back(pod);
  return members;
}

bool node_answers(const ClusterSnapshot& snapshot, const NodeName& name) {
  const auto node = snapshot.find_node(name.str());
  return node && snapshot.node(*node).node->ready;
}

// Its node is gone, and it has not succeeded there.
bool is_displaced_member(const Pod& pod, const QueueTask& task) {
  return pod.phase != PodPhase::kSucceeded && is_member_of(pod, task) &&
         (!task.job || is_of_present_run(pod, *task.job));
}

bool saw_a_loss(const ClusterSnapshot& snapshot, const Pod& pod, double now_steady_s) {
  const PlanSighting* seen = seen_losses(snapshot, pod);
  return seen != nullptr && now_steady_s < *seen->lost_s + kReplacedWithin_s;
}

std::string few_of(const std::set<std::string>& names) {
  constexpr std::size_t kMostNamed = 3;
  std::vector<std::string> few(names.begin(), names.end());
  if (few.size() <= kMostNamed) return join(few, ", ");
  few.resize(kMostNamed);
  return format("{} and {} more", join(few, ", "), names.size() - kMostNamed);
}

}  // namespace

std::optional<LostMembers> lost_members(const ClusterSnapshot& snapshot, const QueueTask& task,
                                        double now_steady_s) {
  if (!task.is_planned() || task.plan->nodes.size() < 2) return std::nullopt;
  if (task.job && task.job->deleting) return std::nullopt;
  LostMembers lost;
  lost.of = std::ssize(task.plan->nodes) - task.plan->later;
  if (task.job) lost.of = std::min(lost.of, task.job->wanted_pods());
  const std::vector<PodPtr> bound = bound_members(snapshot, task);
  // Else its pods may be on their way for the first time.
  bool any_lost = task.job && awaits_replacements(task.job.get(), bound.size(), task.pods);
  for (const PodPtr& pod : bound) {
    if (pod->deleting)
      lost.ending.insert(pod->key.name);
    else if (!node_answers(snapshot, pod->node))
      lost.silent.insert(pod->node.str());
    else
      ++lost.run;
    any_lost = any_lost || saw_a_loss(snapshot, *pod, now_steady_s);
  }
  any_lost = any_lost || !lost.ending.empty() || !lost.silent.empty() ||
             std::any_of(snapshot.displaced.begin(), snapshot.displaced.end(),
                         [&](const PodPtr& pod) { return is_displaced_member(*pod, task); });
  if (!any_lost || lost.run == 0 || lost.run >= lost.of) return std::nullopt;
  if (task.job)
    lost.not_made = std::max<std::int64_t>(0, lost.of - std::ssize(bound) - std::ssize(task.pods));
  return lost;
}

std::string text_of(const LostMembers& lost) {
  std::string text = format("{} of {} pods run", lost.run, lost.of);
  if (!lost.silent.empty()) text += "; no answer from " + few_of(lost.silent);
  if (!lost.ending.empty()) text += "; ending: " + few_of(lost.ending);
  return text;
}

}  // namespace slackline::core

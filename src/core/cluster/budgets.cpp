#include "slackline/core/cluster/budgets.h"

#include <algorithm>
#include <tuple>

#include "slackline/base/duration.h"
#include "slackline/model/constraints.h"

namespace slackline::core {
namespace {

// An empty selector selects every pod of the namespace, as in the eviction API. kube-scheduler
// takes it for none, and evicts what the budget's author wants to keep.
bool selects(const DisruptionBudget& budget, const Pod& pod) {
  if (budget.key.ns != pod.key.ns || budget.selects_nothing || pod.labels.empty()) return false;
  return slackline::selects(budget.match_labels, budget.match_expressions, pod.labels);
}

bool already_counted(const DisruptionBudget& budget, const Pod& pod) {
  return std::find(budget.disrupted_pods.begin(), budget.disrupted_pods.end(), pod.key.name) !=
         budget.disrupted_pods.end();
}

double start_of(const Pod& pod) {
  return pod.started_s.value_or(kNever);
}

// The status of a budget follows that long after a pod was asked to end.
constexpr double kCountsWithin_s = 10;

bool may_be_uncounted(const Pod& pod, double now_wall_s) {
  const double asked_s = pod.gone_by_s.value_or(0) - pod.grace_s;
  return !pod.deleting || now_wall_s < asked_s + kCountsWithin_s;
}

}  // namespace

bool more_important(const Pod& a, const Pod& b) {
  if (a.priority != b.priority) return a.priority > b.priority;
  return std::tuple(start_of(a), std::cref(a.uid)) < std::tuple(start_of(b), std::cref(b.uid));
}

std::vector<bool> violations(const ClusterSnapshot& snapshot,
                             const std::vector<const Pod*>& potential_victims) {
  std::vector<bool> violating(potential_victims.size(), false);
  for (const auto& budget : snapshot.budgets) {
    std::int64_t allowed = budget->disruptions_allowed;
    for (std::size_t i = 0; i < potential_victims.size(); ++i) {
      const Pod& pod = *potential_victims[i];
      if (!selects(*budget, pod) || already_counted(*budget, pod)) continue;
      if (allowed-- <= 0) violating[i] = true;
    }
  }
  return violating;
}

Disruptions::Disruptions(const ClusterSnapshot& snapshot, const std::vector<PodPtr>& ending,
                         double now_wall_s)
    : snapshot_(&snapshot) {
  for (const PodPtr& pod : ending)
    if (may_be_uncounted(*pod, now_wall_s)) disrupted_.push_back(pod.get());
}

bool Disruptions::allow(const std::vector<PodPtr>& pods) const {
  if (snapshot_->budgets.empty()) return true;
  std::vector<const Pod*> all = disrupted_;
  for (const PodPtr& pod : pods)
    all.push_back(pod.get());
  const std::vector<bool> violating = violations(*snapshot_, all);
  return std::none_of(violating.begin() + static_cast<std::ptrdiff_t>(disrupted_.size()),
                      violating.end(), [](bool violates) { return violates; });
}

std::vector<DisruptionNeed> Disruptions::needs(const std::vector<PodPtr>& pods) const {
  std::vector<DisruptionNeed> needs;
  for (std::size_t i = 0; i < snapshot_->budgets.size(); ++i) {
    const DisruptionBudget& budget = *snapshot_->budgets[i];
    const auto takes = [&](const auto& pod) {
      return selects(budget, *pod) && !already_counted(budget, *pod);
    };
    const auto taken = std::count_if(pods.begin(), pods.end(), takes);
    if (taken == 0) continue;
    const auto before = std::count_if(disrupted_.begin(), disrupted_.end(), takes);
    needs.push_back({i, taken, budget.disruptions_allowed - before});
  }
  return needs;
}

bool Disruptions::add(const std::vector<PodPtr>& pods, const std::vector<PodPtr>& anyway) {
  const std::size_t before = disrupted_.size();
  for (const PodPtr& pod : anyway)
    disrupted_.push_back(pod.get());
  if (!allow(pods)) {
    disrupted_.resize(before);
    return false;
  }
  for (const PodPtr& pod : pods)
    disrupted_.push_back(pod.get());
  return true;
}

}  // namespace slackline::core

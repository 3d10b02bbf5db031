// PodDisruptionBudgets as kube-scheduler's preemption counts them.
#pragma once

#include <vector>

#include "slackline/base/duration.h"
#include "slackline/core/planning/plan_task.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

// Whether `a` is the more important of two pods: higher priority, then longer running, then uid.
bool more_important(const Pod& a, const Pod& b);

// For each pod, whether evicting it violates a budget when all of `potential_victims` (by
// importance, the most important first) go: each allowed disruption is used up by the more
// important ones.
std::vector<bool> violations(const ClusterSnapshot& snapshot,
                             const std::vector<const Pod*>& potential_victims);

// Which further pods may be disrupted after some have been.
class Disruptions {
 public:
  // `ending`: pods that go already; the budgets themselves count those that are being deleted, a
  // moment after that began. Epoch seconds; kNever: they have counted all of them.
  Disruptions(const ClusterSnapshot& snapshot, const std::vector<PodPtr>& ending,
              double now_wall_s = kNever);

  // None of them would violate a budget.
  bool allow(const std::vector<PodPtr>& pods) const;
  // What they would take of each budget that selects some of them.
  std::vector<DisruptionNeed> needs(const std::vector<PodPtr>& pods) const;
  // All of them, and `anyway` whatever the budgets say. None where `pods` would violate one beside
  // the others: then false.
  bool add(const std::vector<PodPtr>& pods, const std::vector<PodPtr>& anyway = {});

 private:
  const ClusterSnapshot* snapshot_;
  std::vector<const Pod*> disrupted_;
};

}  // namespace slackline::core

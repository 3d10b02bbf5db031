// PodDisruptionBudgets as kube-scheduler's preemption counts them.
#pragma once

#include <vector>

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
  // `ending`: pods that go already; the budgets count those that are being deleted themselves.
  Disruptions(const ClusterSnapshot& snapshot, const std::vector<PodPtr>& ending);

  // None of them would violate a budget.
  bool allow(const std::vector<PodPtr>& pods) const;
  // All of them, or none where that would violate a budget: then false.
  bool add(const std::vector<PodPtr>& pods);

 private:
  const ClusterSnapshot* snapshot_;
  std::vector<const Pod*> disrupted_;
};

}  // namespace slackline::core

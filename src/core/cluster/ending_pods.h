// EndingPods: bound pods of Jobs that were stopped for other tasks. Their GPUs count as free for
// the planner, and as taken until they are gone for whoever lifts a gate.
//
// The promise is kept for kOverdue_s beyond the time that a pod has to end; a pod that is still
// there then holds its GPUs like any other.
#pragma once

#include <map>
#include <vector>

#include "slackline/model/snapshot.h"

namespace slackline::core {

inline constexpr double kOverdue_s = 60;

class EndingPods {
 public:
  // Epoch seconds.
  EndingPods(const ClusterSnapshot& snapshot, double now_wall_s);

  // What they still hold on the node; nullptr: nothing.
  const Resources* held_on(NodeIndex node) const;
  bool contains(const Pod& pod) const;
  bool any_of(const Job& job) const;
  const std::vector<PodPtr>& pods() const { return pods_; }

 private:
  void add(const Job& job);

  const ClusterSnapshot& snapshot_;
  const double now_s_;
  std::vector<PodPtr> pods_;
  std::map<NodeIndex, Resources> held_;
};

}  // namespace slackline::core

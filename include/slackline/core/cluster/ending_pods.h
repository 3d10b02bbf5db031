// EndingPods: bound pods of Jobs that were stopped. Their GPUs count as free for the planner, and
// as taken until they are gone for whoever lifts a gate. Pods that others end are none of them:
// their GPUs may be promised to whoever ended them.
//
// The promise is kept for kOverdue_s beyond the time that a pod has to end; a pod that is still
// there then holds its GPUs like any other.
#pragma once

#include <map>
#include <unordered_set>
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
  bool contains(const Pod& pod) const { return uids_.contains(pod.uid); }
  bool any_of(const Job& job) const { return jobs_.contains(job.uid); }
  const std::vector<PodPtr>& pods() const { return pods_; }

 private:
  void add(const ClusterSnapshot& snapshot, const Job& job, double now_s);

  std::vector<PodPtr> pods_;
  std::unordered_set<Uid> uids_;  // of these pods
  std::unordered_set<Uid> jobs_;  // that own them
  std::map<NodeIndex, Resources> held_;
};

}  // namespace slackline::core

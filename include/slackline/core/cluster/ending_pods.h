// EndingPods: bound pods of Jobs that were stopped, and pods that were evicted for another task.
// Their GPUs count as free for the planner, and as taken until they are gone for whoever lifts a
// gate. Pods that others end are none of them: their GPUs may be promised to whoever ended them.
// Those of a Job that people deleted count where a gated pod waits on the node: it may have been
// stopped for that one.
//
// The promise is kept for kOverdue_s beyond the time that a pod has to end, and for as long as the
// Job controller has not asked it to; a pod that is still there then holds its GPUs like any other.
#pragma once

#include <map>
#include <unordered_set>
#include <vector>

#include "slackline/model/snapshot.h"

namespace slackline::core {

inline constexpr double kOverdue_s = 60;

// A controller makes another one in its place, and counts no failure.
bool is_replaced(const Pod& pod);
// Its controller keeps it running until people want fewer: a Deployment's, StatefulSet's or
// DaemonSet's.
bool serves(const Pod& pod);
// It was told of its stop, and ends: no object but the pod itself says so.
bool was_evicted(const Pod& pod);

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
  void add(NodeIndex node, const PodPtr& pod);

  std::vector<PodPtr> pods_;
  std::unordered_set<Uid> uids_;  // of these pods
  std::unordered_set<Uid> jobs_;  // that own them
  std::map<NodeIndex, Resources> held_;
};

}  // namespace slackline::core

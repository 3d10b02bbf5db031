// DisruptedJobs: which running Jobs others than Slackline take pods from: kube-scheduler for a pod
// of higher priority, an eviction, a taint, the kubelet, or the loss of a node. Such a Job is
// stopped as a whole and waits in the queue again (docs/RELIABILITY.md, rule 10). A pod that fails
// by itself is the Job controller's.
//
// Only pods of the present run count (is_of_present_run). A node that is gone counts at once, one
// that is not ready after kNodeDownAfter_s. Of several disruptions the earliest counts.
//
// Pure. Times are epoch seconds.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "slackline/model/snapshot.h"

namespace slackline::core {

inline constexpr double kNodeDownAfter_s = 60;

// Not of one that was stopped before. The Job controller makes the first pods of a Job that is
// resumed before it writes startTime, which may so be later than their creation, by kStartLag_s at
// most.
bool is_of_present_run(const Pod& pod, const Job& job);
inline constexpr double kStartLag_s = 30;

class DisruptedJobs {
 public:
  DisruptedJobs(const ClusterSnapshot& snapshot, double now_wall_s);

  // `bound`: all pods of the Job that a node has.
  std::optional<PodDisruption> of(const Job& job, const std::vector<PodPtr>& bound) const;

 private:
  std::optional<PodDisruption> of(const Pod& pod) const;

  double now_s_;
  std::unordered_map<Uid, std::vector<PodPtr>> displaced_;  // by Job
  std::unordered_map<NodeName, double> unready_;            // since when
};

// When the next node that is not ready counts as lost; infinity where none is to come.
double next_node_down_s(const ClusterSnapshot& snapshot, double now_wall_s);

// Pods without a controller that others have ended: nothing makes them again.
std::vector<PodPtr> pods_that_cannot_come_back(const ClusterSnapshot& snapshot);

}  // namespace slackline::core

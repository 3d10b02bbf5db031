// The loss of an eviction, in GPU-seconds (core/planning/lost_work.h). Private to this folder.
#pragma once

#include <map>
#include <string>

#include "slackline/model/snapshot.h"
#include "slackline/model/workload.h"

namespace slackline::core {

class EvictionLoss {
 public:
  // `profiles` know the start-up of workloads; null: no restart is counted.
  EvictionLoss(const ClusterSnapshot& snapshot, const WorkloadProfiles* profiles, double now_wall_s)
      : snapshot_(snapshot), profiles_(profiles), now_wall_s_(now_wall_s) {}

  // Names the task that the pod is part of if it starts as a whole; empty where it stands alone.
  std::string gang_of(const Pod& pod) const;
  double of_pod(const Pod& pod) const;
  // For all running pods of the gang; the whole cluster is read once, at the first call.
  double of_gang(const std::string& gang);

 private:
  double restart_s(const Pod& pod, const TaskIntent& intent) const;

  const ClusterSnapshot& snapshot_;
  const WorkloadProfiles* profiles_;
  double now_wall_s_;
  bool gangs_read_ = false;
  std::map<std::string, double> gangs_;
};

}  // namespace slackline::core

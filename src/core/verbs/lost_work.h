// The loss of an eviction, in GPU-seconds. Private to this folder.
#pragma once

#include <map>
#include <string>

#include "slackline/model/snapshot.h"

namespace slackline::core {

class LostWork {
 public:
  LostWork(const ClusterSnapshot& snapshot, double now_wall_s)
      : snapshot_(snapshot), now_wall_s_(now_wall_s) {}

  // Names the all-or-nothing group of the pod; empty where it stands alone.
  std::string gang_of(const Pod& pod) const;
  // For one pod: work since its last checkpoint times its GPUs; never negative.
  double of_pod(const Pod& pod) const;
  // For all running pods of the gang; the whole cluster is read once, at the first call.
  double of_gang(const std::string& gang);

 private:
  const ClusterSnapshot& snapshot_;
  double now_wall_s_;
  bool gangs_read_ = false;
  std::map<std::string, double> gangs_;
};

}  // namespace slackline::core

// RoomWaits: which running tasks make room for which task. A task waits for them from the moment
// their pods are told of the stop (StopNotice) until their pods have ended.
//
// Pure; times are epoch seconds.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "slackline/core/cluster/queue.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

struct RoomWait {
  std::vector<ObjectKey> tasks;   // that make room; sorted, each once
  std::optional<double> since_s;  // the first stop; unset: none is stopped yet
  double until_s = 0;  // when they are stopped, or the last of their pods must have ended
};

class RoomWaits {
 public:
  RoomWaits(const ClusterSnapshot& snapshot, const Queue& queue, double now_wall_s);

  const RoomWait* of(TaskIndex asker) const;  // nullptr: it waits for nobody's room

 private:
  std::map<TaskIndex, RoomWait> waits_;
};

}  // namespace slackline::core

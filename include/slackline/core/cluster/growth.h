// Growth: a run that was shrunk for another task (PreemptionNote::goes_on) gets its shape back.
//
// It grows where nobody waits, there is room, and it ends earlier than if it went on as it is: by
// what is left at its present speed, against what a stop leaves in the shape that it had, with the
// start-up. A growth is a stop: what protects a run from stops for other tasks protects it from
// this, and its own queue pays for what is lost. One run grows at a time, the one that gains most.
//
// Pure; times are epoch seconds.
#pragma once

#include <optional>
#include <vector>

#include "slackline/core/cluster/queue.h"

namespace slackline::core {

struct Growth {
  TaskIndex task = 0;
  ChoiceIndex choice = 0;  // the shape that it had
  std::vector<PoolNode> nodes;
  double gain_s = 0;  // by how much it ends earlier
  double left = 1;    // share of its work, after the stop
  double lost_gpu_s = 0;
};

// It runs in the shape to which it was shrunk.
bool is_shrunk(const QueueTask& task);

// After a plan that stops nobody: `queue` as that plan left it. O(tasks + nodes of shrunk runs).
std::optional<Growth> next_growth(const ClusterSnapshot& snapshot, const QueueOptions& options,
                                  const Queue& queue, const Policy& policy);

}  // namespace slackline::core

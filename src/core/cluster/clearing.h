// Clearer: which few runs would have to go elsewhere so that a waiting task finds room, where
// enough GPUs are free but scattered over too many nodes. Private to src/core.
//
// The nodes whose runs lose least are cleared first. Every run that goes has a place of its own
// beside the task that waits and the other runs, in its shape and its pool, by GPUs, by the wishes
// of its pods, and by CPU and memory.
//
// Pure. Times are epoch seconds.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "slackline/core/cluster/queue.h"
#include "slackline/core/cluster/room.h"

namespace slackline::core {

inline constexpr std::size_t kMostCleared = 3;  // runs, for one task

struct MovableRun {
  TaskIndex index = 0;
  double lost_gpu_s = 0;  // where it is stopped now
};

struct Clearing {
  std::vector<MovableRun> moved;
  std::vector<std::vector<PoolNode>> to;  // in the same order
  EligibleNodes nodes;                    // which the waiting task may use then
};

class Clearer {
 public:
  // All references outlive it.
  Clearer(const ClusterSnapshot& snapshot, const Queue& queue, const RoomTable& room,
          const SlowNodesPtr& slow, std::vector<MovableRun> movable);

  // It must not fit yet. nullopt: a few runs do not suffice.
  std::optional<Clearing> find(TaskIndex waits, const Choice& choice) const;

 private:
  // A node that would be free enough without these runs.
  struct Clearable {
    PoolNode node = 0;
    std::vector<MovableRun> runs;
    double lost_gpu_s = 0;
  };
  std::vector<Clearable> clearable(TaskIndex waits, const Choice& choice) const;
  std::optional<Clearable> without_runs(TaskIndex waits, const Choice& choice, PoolNode node,
                                        const std::vector<MovableRun>& runs) const;
  bool place(TaskIndex waits, const Choice& choice, FreeGpus& free, Clearing& clearing) const;

  const ClusterSnapshot& snapshot_;
  const Queue& queue_;
  const RoomTable& room_;
  const SlowNodesPtr& slow_;
  std::vector<MovableRun> movable_;  // those that lose least first
};

// The nodes of its pool where the pods of a running task may go, less those that they are on, and
// those that are slow.
EligibleNodes nodes_elsewhere(const ClusterSnapshot& snapshot, const Queue& queue,
                              const RoomTable& room, const SlowNodesPtr& slow, TaskIndex index);

}  // namespace slackline::core

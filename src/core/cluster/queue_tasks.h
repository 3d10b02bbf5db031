// The tasks of a queue, found in a snapshot: what queue.h says of waiting and running.
#pragma once

#include <unordered_set>
#include <vector>

#include "slackline/core/cluster/queue.h"

namespace slackline::core {

struct FoundTasks {
  std::vector<QueueTask> waiting;
  std::vector<QueueTask> running;
  std::vector<JobPtr> to_open;
  std::vector<QueueTask> let_go;  // single pods without gate, plan and nomination
};

// A task that kube-scheduler runs, or will, without a plan: one without an id says where.
QueueTask running_unplanned(const ClusterSnapshot& snapshot, QueueTask&& task);

// Some of them only, once `stop` says yes.
FoundTasks find_queue_tasks(const ClusterSnapshot& snapshot,
                            const std::unordered_set<Uid>* held_off, const StopAsked& stop,
                            double now_wall_s);

}  // namespace slackline::core

// Task: what a researcher submitted, as one thing: a Job, a labelled gang, a bare Pod
// (docs/HOW-A-TASK-TRAVELS.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slackline/model/pod.h"
#include "slackline/model/task_intent.h"

namespace slackline {

enum class TaskState { kSuspended, kPending, kPartlyBound, kRunning };
std::string_view to_string(TaskState state);

// Derived from a snapshot; never stored.
struct Task {
  std::string kind;  // "Job", "Pod", "Gang" or the controller's kind
  ObjectKey key;
  Uid uid;  // of the controller or the pod; empty for a labelled gang
  TaskState state = TaskState::kPending;
  std::int64_t pods_wanted = 1;
  std::int64_t pods_bound = 0;
  std::int64_t pods_unbound = 0;
  std::int64_t gpus_per_pod = 0;
  std::string gpu_resource;
  double created_s = 0;
  std::int32_t priority = 0;
  bool gang = false;
  // The parts of the shape that the planner may change while no pod of it runs
  // (core/planning/task_menu.h).
  bool nodes_may_change = false;
  bool gpus_may_change = false;
  std::vector<NodeName> nodes;  // of bound pods, sorted, each once
  TaskIntent intent;

  // The shape as written: every pod on a node of its own.
  Placement written_shape() const {
    return clamped_placement(gang ? pods_wanted : 1, gpus_per_pod);
  }
};

}  // namespace slackline

// Task: what starts as a whole, or is counted together: a Job, a labelled gang, a bare pod
// (core/cluster/task_catalog.h derives them).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/model/pod.h"
#include "slackline/model/task_intent.h"

namespace slackline {

// In the order in which a name is looked up.
enum class TaskKind : std::uint8_t {
  kJob,
  kController,  // of any other kind: its pods are counted together, each starts by itself
  kGang,        // the pods of one label `gang`, or that a controller makes as a gang
  kPod,
};
std::string_view to_string(TaskKind kind);  // "Job"

enum class TaskState : std::uint8_t { kWaiting, kStarting, kRunning };
std::string_view to_string(TaskState state);  // "waiting"

// One name for a state, everywhere: lists, filters and docs/GLOSSARY.md.
struct TaskStateFact {
  TaskState state;
  std::string_view name;
  std::string_view meaning;  // a clause for people, without a full stop
};

inline constexpr std::array<TaskStateFact, 3> kTaskStates = {{
    {TaskState::kWaiting, "waiting", "it has no plan, and none of its pods is bound"},
    {TaskState::kStarting, "starting", "it has a plan or a bound pod, but not all are bound"},
    {TaskState::kRunning, "running", "all its pods are bound"},
}};
std::vector<std::string_view> task_state_names();  // in this order

// Derived from a snapshot; never stored.
struct Task {
  TaskKind kind = TaskKind::kPod;
  std::string controller;  // its kind, of a kController
  ObjectKey key;
  Uid uid;                            // of the controller or the pod; empty for a labelled gang
  std::shared_ptr<const Job> job;     // of a kJob; null: not known
  std::shared_ptr<const Pod> member;  // one of its pods, or as its Job's will be
  TaskState state = TaskState::kWaiting;
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
  std::int64_t all_gpus = 0;
  // Of a gang whose members differ: what the GPUs of each are a multiple of; 0: they are alike.
  std::int64_t gpus_unit = 0;

  // "Job", "Gang", "Pod" or the controller's kind.
  std::string_view kind_name() const {
    return kind == TaskKind::kController ? std::string_view(controller) : to_string(kind);
  }

  // The shape as written: every pod on a node of its own.
  Placement written_shape() const {
    return clamped_placement(gang ? pods_wanted : 1, gpus_per_pod);
  }

  // As lists show it: where members differ, in units of them.
  Placement listed_shape() const {
    return gpus_unit > 0 ? clamped_placement(all_gpus / gpus_unit, gpus_unit) : written_shape();
  }
};

}  // namespace slackline

// TaskIntent: the annotations that people write (docs/OPERATIONS.md), decoded.
//
// On a Pod, a Pod template or the owning Job; the Pod wins, key by key. What cannot be read is left
// unset and named in `problems`: it never blocks a pod.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/model/ids.h"
#include "slackline/model/placement.h"
#include "slackline/model/resize.h"

namespace slackline {

enum class QosClass { kNormal, kPrior, kUrgent };
enum class WorkloadMode { kTraining, kInference };

// The suffix of a workload type that serves.
inline constexpr std::string_view kInferenceSuffix = ":inference";

std::string_view to_string(QosClass qos);
std::optional<QosClass> qos_class_of(std::string_view name);  // nullopt: no such class
std::string_view to_string(WorkloadMode mode);

struct TaskIntent {
  std::optional<std::string> model;
  std::optional<WorkloadMode> mode;
  std::optional<std::int64_t> batch_size;  // global batch
  std::optional<std::int64_t> iterations;
  std::optional<std::int64_t> model_parallel;     // GPUs of a replica; unset: its model says
  std::optional<std::int64_t> tokens_per_sample;  // the sequence length
  std::optional<std::int64_t> tokens;             // the task's size, instead of iterations
  std::optional<double> expected_duration_s;
  std::optional<GpuType> expected_duration_on{};  // the GPU type on which it takes as long
  std::optional<QosClass> qos_class;
  std::optional<double> deadline_s;        // epoch seconds
  std::optional<double> deadline_after_s;  // seconds after creation
  bool any_gpu_type = false;               // gpu-types: any
  std::vector<GpuType> gpu_types;          // in order of preference; empty = no constraint
  bool any_placement = false;              // placements: auto
  std::vector<Placement> placements;       // empty = exactly as written
  std::optional<std::string> gang;         // label
  std::optional<std::int64_t> gang_size;
  std::optional<std::string> family;
  std::optional<std::string> queue;     // label
  std::vector<std::string> depends_on;  // Jobs of the namespace, each once
  std::optional<bool> hold{};           // true: not started before it says otherwise
  std::optional<double> checkpoint_interval_s;
  std::optional<double> last_checkpoint_s;  // epoch seconds
  bool own_failure_policy = false;          // pod-failure-policy: off
  std::optional<ResizeMode> resize;         // nullopt: as its namespace, or its queue
  std::vector<std::string> problems;        // "batch-size: ..." for REST and Events

  // The workload type under which its speed is known: serving a net is another workload type than
  // training it, "resnet50:inference" next to "resnet50". Trials of one search and fine-tunes that
  // name no model share the speed of their family, where they say batch and iterations. nullopt: it
  // names neither.
  std::optional<std::string> workload() const;
};

// `tokens` as iterations, rounded up, where the intent gives tokens, batch and tokens per sample,
// and no iterations.
void count_iterations(TaskIntent& intent);

// Every field of `pod` where set, else of `owner`; problems of both.
TaskIntent merge(const TaskIntent& pod, const TaskIntent& owner);

// The queue in which a task of the namespace waits: the one it names, else the namespace.
std::string queue_of(const TaskIntent& intent, const std::string& ns);

// PlanNote: the `plan` annotation, a decision handed over through the API. Only Slackline writes
// it.
struct PlanNote {
  std::string id;
  std::int64_t epoch = 0;
  Placement shape;
  GpuType gpu_type;
  std::vector<NodeName> nodes;  // one entry per pod; a node that pods share is repeated
  bool promoted = false;
  std::optional<double> predicted_s{};  // how long the run will take; unset: unknown
  // As it was asked for: what is written while it runs changes nothing of this run.
  std::optional<double> checkpoint_interval_s{};  // unset: none
  std::optional<double> work_s{};                 // of the whole task there, without start-up
  std::string asked{};           // names what its length follows from; empty: nobody noted it
  std::uint64_t value_hash = 0;  // of the annotation's text: another value is another plan
  // Of the Job, once it has this plan: identifies an old plan after a failover.
  std::optional<std::int64_t> generation{};

  std::optional<ResizeNote> resize{};  // nullopt: nobody made it larger or smaller
  // The PriorityClass of pods of the Job, whose template names none (model/band.h). Empty: none.
  std::string band{};
  // Of these nodes the last are for members of its gang that its controller makes once others run
  // (model/owner_gang.h).
  std::int64_t later = 0;

  // As it was read: the signed text, and the code. Empty: it was not read, or has none.
  std::string text{};
  std::string code{};
};

}  // namespace slackline

// TaskCatalog: which Jobs and pods of a snapshot are one task, for everybody who asks.
//
// A task is what starts as a whole (docs/decisions/0031-a-task-is-what-starts-as-a-whole.md): a Job
// whose pods start together, whoever owns the Job and whatever label `gang` says; else the pods of
// one label `gang`; else those that a controller makes as a gang (docs/GANGS.md); else a pod. Pods
// that start by themselves are counted together by their Job, or by another controller; find()
// tells them apart.
//
// Only what asks for GPUs and is not over is in a catalogue. Immutable; it keeps a reference to the
// snapshot. Making one is O(pods log jobs): once per turn or question, not per filter call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slackline/model/portrait.h"
#include "slackline/model/snapshot.h"
#include "slackline/model/task.h"

namespace slackline::core {

// A Job whose pods start together: its label `gang` does not count. Of a suspended Job this is
// so until it is opened.
bool starts_as_whole(const Job& job);

// The label `gang` by which the pod is part of a task: null where it has none, or its Job starts as
// a whole. `job` is the pod's; null: it has none.
const std::string* gang_label_of(const Pod& pod, const Job* job);

// The gang of its controller: a Job says the uid where its pods do not. Null: there is none.
const std::shared_ptr<const OwnerGang>& owner_gang_of(const Pod& pod, const Job* job);

// `bound`: how many pods with GPUs have a node, of those that should exist.
TaskState task_state(bool planned, std::int64_t bound, std::int64_t wanted);

// By which a task is remembered whatever becomes of its pods: the uid of its Job or of the
// controller that makes its gang, "namespace/name" of other gangs; else the pod's. `whole`: the Job
// that carries the plan; null: pods do, and this is one of them.
Uid lasting_name(const ClusterSnapshot& snapshot, const Job* whole, const Pod& member);
// By which is remembered where it found no node: the same, but for pods of one controller that
// start by themselves and may not share a node. What one of them meets, all would.
Uid refused_as(const ClusterSnapshot& snapshot, const Job* whole, const Pod& member);

// Before its shape was changed: how many pods it asks for, and whether as a gang.
std::int64_t written_pods(const Job& job);
bool is_written_gang(const Job& job);
// A stopped gang of which some pods are done: the others are those of the shape in which it began.
bool goes_on_in_its_shape(const Job& job);
// Its pods are tasks of their own: more than one at a time that is no gang, or one after another.
bool starts_one_by_one(const Job& job);
// Its controller may not have made the first of them yet: it was unsuspended within ten seconds.
bool is_opening(const Job& job, double now_wall_s);
// Of a Job whose pods start one by one: how often as many as run at a time have yet to run.
std::int64_t waves_left(const Job& job);

// What each pod of a planned Job asks for, also before Kubernetes 1.36, where its template says
// what was written.
Resources planned_requests(const Job& job);

// What of the note `original` still counts: nothing of what a person has written anew since.
OriginalShape counted_original(const Job& job);

// A pod of the Job as it was written, before its shape was changed. Never null.
PodPtr written_pod(const Job& job);
// What such a pod asks for.
PodRequests written_requests(const Job& job);

// Pods of a planned task run, and others of it are gated: they replace members that were lost.
bool has_replacements(std::size_t bound, const std::vector<PodPtr>& unbound);
// So, or its controller has not made the others again: it backs off, or the API server refuses
// them. `job`: null of a task that is no Job.
bool awaits_replacements(const Job* job, std::size_t bound, const std::vector<PodPtr>& unbound);

// What a plan would say of pods of a task that are on these nodes, at least one: a name for each
// pod. It has no id.
PlanNote plan_of_run(const ClusterSnapshot& snapshot, std::vector<NodeName> nodes,
                     std::int64_t gpus_per_pod);

// A task by its parts.
struct TaskParts {
  TaskKind kind = TaskKind::kPod;
  std::string controller;  // its kind, of a kController
  ObjectKey key;
  Uid uid;  // of the Job, controller or pod; empty for a labelled gang
  std::shared_ptr<const OwnerGang> gang;  // null: no controller makes it
  GangSpec spec{};                        // of `gang`, as far as it is known
  // The Job of a kJob, if only of its pods; of a gang, the first whose pods carry the label.
  JobPtr job;
  std::int64_t pods_of_jobs = 0;  // that its unfinished Jobs want
  std::int64_t pods_asked = 0;    // of these, those of Jobs that are not suspended
  std::vector<PodPtr> bound;      // in the order of the nodes
  std::vector<PodPtr> unbound;    // in the snapshot's order
  // Of a gang that a controller makes: its members that ask for none, such as a launcher.
  std::vector<PodPtr> without_gpus;

  std::int64_t pods_done = 0;  // that the Jobs of pods_asked want no more

  // All of it, or nothing.
  bool is_whole() const {
    return kind == TaskKind::kGang || (kind == TaskKind::kJob && starts_as_whole(*job));
  }
};

class TaskCatalog {
 public:
  explicit TaskCatalog(const ClusterSnapshot& snapshot);

  // Jobs first, in the snapshot's order.
  const std::vector<TaskParts>& parts() const { return parts_; }
  // By (key, kind).
  std::vector<Task> tasks() const;
  // By namespace and name; where several share a name, in the order of TaskKind. The name of a pod
  // or of a Job in a gang finds the task that it is part of, or the pod where it starts by itself.
  std::optional<Task> find(const ObjectKey& key) const;

 private:
  const TaskParts* gang_with_job(const ObjectKey& key) const;  // null: there is none
  Task describe(const TaskParts& parts) const;

  const ClusterSnapshot& snapshot_;
  std::vector<TaskParts> parts_;
};

// No gang counts as larger, whatever is written.
inline constexpr std::int64_t kMaxGang = 65536;

// How many pods with GPUs a gang has; nullopt: nothing says it, or it is none. `intent` is of one
// of its pods.
std::optional<std::int64_t> gang_size(const TaskParts& parts, const TaskIntent& intent);

// How many pods start together with this one: a gang's size, 1 where it stands alone.
std::int64_t gang_pods(const ClusterSnapshot& snapshot, const Pod& pod, const TaskIntent& intent);

}  // namespace slackline::core

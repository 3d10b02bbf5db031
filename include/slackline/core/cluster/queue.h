// Queue: the live cluster as the planner sees it: pools, tasks, and where they stand.
//
// Waiting are the Jobs that we suspended, and the managed pods behind our gate: a labelled gang
// once all of its pods exist, a Job's pods where the Job is a gang, any other pod by itself. Not
// waiting is a Job that still has pods, or whose controller has not said Suspended=True (hand-over
// rule 5; a new one keeps its place meanwhile), and whoever is held off. What waits with a
// hindrance (core/cluster/hindrance.h) is not planned; what nobody admitted is counted against its
// queue's maxPending. A task that no present node could ever run is, where its queue has scaleUp,
// let go without a plan, and waits again once a node that could run it is there; a gang of that
// kind is hindered. Running are the tasks that have a plan, bound or on their way.
//
// A pool is a GPU type under one resource name (core/planning/cost.h); cordoned, unready and
// unreadable nodes are in none. Its GPUs are what is allocatable, less everybody's bound pods and
// live holds; those of running tasks come back as their own. Predicates, and the CPU and memory of
// one pod, decide which nodes a task may use.
//
// Asked to foresee, the state has the runs of everybody else's GPU pods as well (after the tasks of
// the queue), with their CPU and memory coming free as they end: that is what forecasts are made
// of.
//
// The state believes the error that the models claim for the placements on which the tasks are
// fastest, the root mean square over all tasks; what people say of their own tasks counts as exact.
//
// Times are epoch seconds but for the steady clock, by which holds expire. Tasks are in order of
// (created, key, kind, uid). Pure: the same cluster gives the same queue.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "slackline/base/stop.h"
#include "slackline/core/cluster/hindrance.h"
#include "slackline/core/planning/plan.h"
#include "slackline/core/planning/task_menu.h"
#include "slackline/model/own_write.h"
#include "slackline/model/queue_rules.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

struct QueueOptions {
  const GpuCatalog* catalog = nullptr;         // required
  std::shared_ptr<const Predictor> predictor;  // required
  double theta = kDefaultTheta;
  const QueueRulebook* queues = nullptr;  // null: the defaults
  double now_wall_s = 0;
  double now_steady_s = 0;
  const std::unordered_set<Uid>* held_off = nullptr;  // Jobs that do not wait now; null = none
  bool foresee = false;                               // everybody else's runs as well
  StopAsked stop{};                                   // asked for every Job, pod and task
};

// A task of the queue in the cluster. Its plan is carried by its Job, else by each of its pods.
struct QueueTask {
  std::string kind;  // "Job", "Gang" or "Pod"
  ObjectKey key;
  Uid uid;                   // of the Job or the pod; empty for a labelled gang
  JobPtr job;                // null: pods carry the plan
  std::vector<PodPtr> pods;  // members that are not bound, in the snapshot's order
  PodPtr member;             // what one member asks for, before any change of shape; never null
  TaskRequest request;
  std::shared_ptr<const TaskIntent> intent;  // never null
  bool shape_is_free = false;
  double created_s = 0;
  std::optional<double> deadline_s;
  bool length_known = true;              // false: nobody knows how long it takes
  std::shared_ptr<const PlanNote> plan;  // of a task that runs
  std::optional<Hindrance> hindrance;    // set: it waits, and is not planned

  // In which pods it runs when it is served in this shape.
  std::int64_t pods_in(const Placement& shape) const {
    return shape_is_free ? shape.d_node : request.pods;
  }
  std::int64_t gpus_per_pod_in(const Placement& shape) const {
    return shape_is_free ? shape.d_gpn : request.gpus;
  }
};

// False of a Job whose controller has not seen its suspension: it would write over a release.
inline bool may_start(const QueueTask& task) {
  return !task.job || !task.job->suspended || task.job->halted;
}

// The nodes of a pool, in the order of the snapshot.
struct QueuePool {
  Pool pool;
  std::vector<NodeIndex> nodes;
};

class Queue {
 public:
  const PlanState& state() const { return state_; }
  PlanState& state() { return state_; }
  const QueueTask& task(TaskIndex task) const { return tasks_[task]; }
  std::size_t size() const { return tasks_.size(); }
  const std::vector<QueuePool>& pools() const { return pools_; }
  // Pods of everybody else that run for nobody knows how long; 0 where it does not foresee.
  std::size_t runs_of_unknown_length() const { return runs_of_unknown_length_; }
  // Jobs to be unsuspended without a plan, because their pods queue one by one, or are to be let
  // go.
  const std::vector<JobPtr>& to_open() const { return to_open_; }
  // Pods to be let go without a plan, for a cluster autoscaler to see.
  const std::vector<PodPtr>& to_let_go() const { return to_let_go_; }
  // It was stopped before it was whole, and nothing is in it.
  bool gave_up() const { return gave_up_; }

 private:
  friend class QueueMaker;
  Queue() : table_(std::make_unique<TaskTable>()), state_(*table_, FreeGpus()) {}

  std::vector<QueuePool> pools_;
  std::vector<QueueTask> tasks_;
  std::unique_ptr<const TaskTable> table_;
  PlanState state_;
  std::vector<JobPtr> to_open_;
  std::vector<PodPtr> to_let_go_;
  std::size_t runs_of_unknown_length_ = 0;
  bool gave_up_ = false;
};

// `menus` keeps what was predicted from call to call; it is begun anew when pools, models or theta
// changed.
Queue make_queue(const ClusterSnapshot& snapshot, const QueueOptions& options, TaskMenus& menus);

// Identifies the planner in every plan, so that nobody overwrites the plan of a later one
// (docs/RELIABILITY.md, rule 2).
struct PlanStamp {
  std::int64_t epoch = 0;
  std::int64_t next_number = 1;  // of the next plan; counts up
  // Set on API servers before 1.36, where the template of a Job that ran once is fixed, and its
  // requests are for every Job: nothing is written into templates. The pods get their GPU count
  // from the webhook, and are pinned to their GPU type, by the labels of this catalogue, while they
  // are gated.
  const GpuCatalog* pin_pods_by = nullptr;

  std::string next_id();
};

// The writes that begin the starts of a plan, and open and let go what is to be. Of starts that
// together exceed a quota the later ones are left out: the next plan finds them hindered. Stops and
// shrinks are left out: without live preemption they cannot be done.
std::vector<OwnWrite> begin_starts(const ClusterSnapshot& snapshot, const Queue& queue,
                                   const Plan& plan, const GpuCatalog& catalog, PlanStamp& stamp);

}  // namespace slackline::core

// Queue: the live cluster as the planner sees it: pools, tasks and their phases.
//
// The waiting tasks are the Jobs that Slackline suspended, and the managed pods behind its gate: a
// labelled gang, with the hindrance GangIncomplete until all of its pods exist; a Job's pods if the
// Job is a gang; any other pod by itself. In a snapshot of core/shadow/stock_queue.h the gangs that
// controllers make wait as labelled ones do. Managed Jobs that somebody else suspended are among
// them with the hindrance HeldByUser, and so is what has `slackline.dev/hold`. What is being
// deleted waits no more. A Job does not wait while its controller has not noted Suspended=True
// (docs/RELIABILITY.md, rule 5; a new Job keeps its place meanwhile), or while it is held off. One
// that was stopped and still has pods has the hindrance PodsEnding. A task with a hindrance
// (core/cluster/hindrance.h) is not planned; one that nobody admitted counts against its queue's
// maxPending. If no present node could ever run a task and its queue has scaleUp, it is released
// without a plan, and waits again once a node could run it; a gang of that kind is hindered. The
// running tasks are those that have a plan, bound or on their way, and managed ones that run
// without one: those are not stopped, moved or grown.
//
// A pool is a GPU type under one resource name (core/planning/cost.h); cordoned, unready and
// unreadable nodes are in none. Its GPUs are what is allocatable, less everybody's bound pods and
// live holds; those of running tasks come back as their own. Predicates, and what its pods on one
// node ask for besides GPUs, decide which nodes a task may use.
//
// With `foresee`, the state also has the runs of everybody else's GPU pods (after the tasks of the
// queue), and their CPU and memory come free as they end. Forecasts need them. Without it, but with
// `reserves`, the state knows when these GPUs come free (FreeGpus::to_come), and of each task that
// waits which nodes it may use then (PlanTask::later): a policy that reserves needs that.
//
// With `may_stop`, a Job whose pods are all bound may be stopped for others if disruption budgets
// allow it (docs/RELIABILITY.md, rule 9), and so may a single pod that a controller replaces
// (ending_pods.h); its replacement is a new task. Its checkpoints keep what was done until
// `last-checkpoint-time`, else up to the last whole `checkpoint-interval`, else up to the last
// report of progress; without any of them a stop loses the whole run. Starting again takes the
// start-up that the task's model measured, else a minute. What earlier stops left to do
// is in the state, and how far running Jobs say that they are (core/cluster/run_progress.h). Of
// tasks that are equal to a policy, those that were stopped before come first. A run whose pods
// were told that it is stopped (handover/notices.h) is promised to the task that asked, while that
// waits.
//
// A Job that was stopped to go on at once, in another shape or elsewhere (PreemptionNote::goes_on),
// keeps its place: it is a run of the state while it waits, and nobody else gets its GPUs. That
// holds until its pods have ended, and for a minute more where it cannot start yet. So does a gang
// that its controller starts anew (core/cluster/gang_places.h).
//
// The state's error is the one that the models claim for the placements on which the tasks are
// fastest, the root mean square over all tasks; times that people state count as exact.
//
// Times are epoch seconds, except that holds expire by the steady clock. Tasks are in order of
// (created, key, kind, uid). Pure: the same cluster gives the same queue.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "slackline/base/stop.h"
#include "slackline/core/cluster/hindrance.h"
#include "slackline/core/cluster/pools.h"
#include "slackline/core/cluster/refused_nodes.h"
#include "slackline/core/cluster/resizing.h"
#include "slackline/core/cluster/situation.h"
#include "slackline/core/cluster/stop_book.h"
#include "slackline/core/planning/plan.h"
#include "slackline/core/planning/task_menu.h"
#include "slackline/model/queue_rules.h"
#include "slackline/model/snapshot.h"
#include "slackline/model/task.h"

namespace slackline::core {

class GangPlaces;
class NearEnds;

struct QueueOptions : Situation {
  const std::unordered_set<Uid>* held_off = nullptr;  // Jobs that do not wait now; null = none
  const RefusedNodes* refused = nullptr;              // null = none
  bool foresee = false;                               // everybody else's runs, where somebody waits
  bool foresee_always = false;                        // and where nobody does
  bool reserves = false;                              // what comes free as runs end counts, too
  bool may_stop = false;                              // running tasks may make room for others
  const StopBook* stop_book = nullptr;                // null: nothing is remembered
  const NearEnds* near_ends = nullptr;                // null = none
  const GangPlaces* gang_places = nullptr;            // null = none
  StopAsked stop{};                                   // asked for every Job, pod and task
};

// A task of the queue in the cluster (core/cluster/task_catalog.h). Its plan is carried by its Job,
// else by each of its pods.
struct QueueTask {
  TaskKind kind = TaskKind::kPod;  // never kController
  ObjectKey key;
  Uid uid;                                  // of the Job or the pod; empty for a labelled gang
  JobPtr job;                               // null: pods carry the plan
  std::shared_ptr<const OwnerGang> gang{};  // null: no controller makes it
  // Members that are not bound, in the snapshot's order, and those that its controller makes later.
  std::vector<PodPtr> pods;
  std::vector<PodPtr> bound;  // of a running Job, in the order of the nodes; a running pod itself
  // The request of one member before any change of shape, but for CPU and memory that right-sizing
  // adds; never null.
  PodPtr member;
  TaskRequest request;
  std::shared_ptr<const TaskIntent> intent;  // never null
  bool types_of_queue = false;  // it names no GPU types: those in the intent are its queue's
  bool shape_is_free = false;
  // A Job whose pods start one by one: its turn is that of its first pod, and opens it.
  bool opens = false;
  ResizingPtr resizing{};  // of a task that waits: what is made of its request; null: as written
  double created_s = 0;
  // By when its pods have to be done. Where later pods of its Job wait for them: as much before the
  // deadline of the Job as those take.
  std::optional<double> deadline_s;
  double later_s = 0;
  LengthSource length = LengthSource::kUnknown;  // of its run time
  // Of a task that runs; without an id where it has none, and says only where its pods are.
  std::shared_ptr<const PlanNote> plan;
  std::optional<Hindrance> hindrance;         // set: it waits, and is not planned
  std::optional<PodDisruption> disruption{};  // of a running Job: others end pods of it
  double notice_s = 0;                        // that its queue asks for before it is stopped
  std::string account;         // that pays for what it makes others lose (QueueRulebook::account)
  std::int64_t evictions = 0;  // of a pod's controller: for other tasks, within a day
  std::int64_t stops_before = 0;    // of a pod: younger ones of its controller that go before it
  std::optional<double> began_s{};  // of a gang that runs: the first of its members; epoch seconds

  bool is_planned() const { return plan && !plan->id.empty(); }
  bool length_known() const { return length != LengthSource::kUnknown; }
  // Also false of a type of which the stated time says nothing (stated_duration.h).
  bool length_known_in(const Choice& choice) const {
    return length_known() && !(is_stated(length) && choice.error >= kUnknownError);
  }
  // By a model or by people, well enough to tell that a run is slow.
  bool length_is_told() const {
    return length_known() && !is_past(length) && length != LengthSource::kAtMost;
  }
  // The pods in which it runs in this shape.
  std::int64_t pods_in(const Placement& shape) const {
    return shape_is_free ? shape.d_node : request.pods;
  }
  // Of pods that are alike.
  std::int64_t pods_on_node(const Placement& shape) const {
    return std::max<std::int64_t>(1, pods_in(shape) / shape.d_node);
  }
  std::int64_t gpus_per_pod_in(const Placement& shape) const {
    return shape_is_free ? shape.d_gpn : request.gpus;
  }
};

// A member that is made once others run (model/owner_gang.h): nothing is called so.
inline bool is_to_come(const Pod& pod) {
  return pod.key.name.empty();
}

// False of a Job whose controller has not seen its suspension: it would write over a release. False
// of one that was opened and has no pods yet: they start, one by one.
inline bool may_start(const QueueTask& task) {
  if (task.opens && !task.job->suspended) return false;
  return !task.job || !task.job->suspended || task.job->halted;
}

// A Job with a plan whose pods are all on nodes, and none of them ends.
bool runs_whole(const QueueTask& task);

// What the pods of a run were told of its stop, the latest time; nullopt: nothing.
std::optional<StopNotice> notice_of(const std::vector<PodPtr>& pods);
// The run of which these pods were told is to be stopped for this task.
bool is_asker(const StopNotice& notice, const QueueTask& task);

class Queue {
 public:
  const PlanState& state() const { return state_; }
  PlanState& state() { return state_; }
  const QueueTask& task(TaskIndex task) const { return tasks_[task]; }
  std::size_t size() const { return tasks_.size(); }
  const std::vector<QueuePool>& pools() const { return pools_; }
  std::vector<PodPtr> bound_pods(const std::vector<TaskIndex>& tasks) const;
  // Accounts by PlanTask::queue; those behind the tasks' own have none here.
  const std::vector<std::string>& queue_names() const { return queue_names_; }
  // Pods of others whose run time is unknown; 0 without `foresee`.
  std::size_t runs_of_unknown_length() const { return runs_of_unknown_length_; }
  // Whose run of the state that is: a task of the queue, or else, without a plan, a Job or a pod.
  ObjectKey key_of_run(TaskIndex run) const;
  // Waiting tasks whose place is kept: their runs are in the state.
  const std::vector<TaskIndex>& going_on() const { return going_on_; }
  // Jobs to be unsuspended without a plan, because their pods queue one by one, or are to be
  // released.
  const std::vector<JobPtr>& to_open() const { return to_open_; }
  // Pods to be released without a plan, so that a cluster autoscaler sees them.
  const std::vector<PodPtr>& to_let_go() const { return to_let_go_; }
  // make_queue was stopped; the queue is empty.
  bool gave_up() const { return gave_up_; }

 private:
  friend class QueueMaker;
  Queue() : table_(std::make_unique<TaskTable>()), state_(*table_, FreeGpus()) {}

  std::vector<QueuePool> pools_;
  std::vector<std::string> queue_names_;
  std::vector<QueueTask> tasks_;
  std::unique_ptr<const TaskTable> table_;
  PlanState state_;
  std::vector<PodPtr> others_;  // the runs behind the tasks of the queue
  std::vector<TaskIndex> going_on_;
  std::vector<JobPtr> to_open_;
  std::vector<PodPtr> to_let_go_;
  std::size_t runs_of_unknown_length_ = 0;
  bool gave_up_ = false;
};

// `menus` keeps predictions from call to call; it starts again when pools, models or theta have
// changed.
Queue make_queue(const ClusterSnapshot& snapshot, const QueueOptions& options, TaskMenus& menus);

}  // namespace slackline::core

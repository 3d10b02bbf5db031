// PlanTask: what a plan knows of a task that does not change, and the tasks of a plan side by side.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "slackline/base/duration.h"
#include "slackline/core/planning/free_gpus.h"
#include "slackline/core/planning/menu.h"
#include "slackline/core/planning/shares.h"
#include "slackline/core/planning/task_list.h"
#include "slackline/core/portrait/learn.h"
#include "slackline/model/queue_rules.h"
#include "slackline/model/task_intent.h"

namespace slackline::core {

inline constexpr double kNoDeadline = kNever;

struct MixedPods;  // mixed_pods.h

// What the stop of a run takes of a PodDisruptionBudget.
struct DisruptionNeed {
  std::size_t budget = 0;
  std::int64_t pods = 0;
  std::int64_t left = 0;  // that may still go, of all runs
};

// The properties of a task that do not change.
struct PlanTask {
  std::int64_t id = 0;  // unique; the last key of every order
  // Runs that are parts of one are as long as each other in every future: a name of what they are
  // parts of. nullopt: it is whole.
  std::optional<std::uint64_t> part_of{};
  double submit_s = 0;
  double deadline_s = kNoDeadline;  // the promise (eq 9); none: best effort, served with late tasks
  QosClass qos = QosClass::kNormal;
  int request_gpus = 1;       // what the user asked for
  std::string type;           // workload type
  double restart_s = 60;      // start-up after a stop
  double checkpoint_s = 600;  // a stop loses the work done since; 0 = nothing
  // Of the present run, as it told itself; it counts where it is later than checkpoint_s implies.
  std::optional<double> last_checkpoint_s{};
  double limit_s = kNever;   // a run that begins is ended by then, whatever it has done
  bool preemptible = true;   // may be stopped for others
  bool stops_others = true;  // others may be stopped for it
  bool endless = false;      // it serves: its run does not end by itself, as far as is known
  // Never stopped so that an owner has his GPUs back: it runs on its queue's own and on the pool's.
  bool keeps_gpus = false;
  bool can_give_back = true;  // its run can be stopped for that now, disruption budgets aside
  // How long before a stop its run must be told of it; what is left of that time once it was told.
  double notice_s = 0;
  double grace_s = 0;                         // that the pods of its run may take to end
  std::optional<TaskIndex> promised_to{};     // it was told that it is stopped for this task
  std::optional<double> near_end_since_s{};   // since when its run has been about to end
  int level = kUnknownLevel;                  // how well its family uses GPUs, 1..10
  QueueNumber queue = 0;                      // whose account pays for what it makes others lose
  std::shared_ptr<const PlacementMenu> menu;  // required; an empty one can never be served
  // GPU types in order of preference, as pools; empty: any, by predicted speed. A pool
  // behind the first is open to the task once none before it would meet the deadline, or the task
  // has waited for fallback_after_s. The menu has placements in these pools only.
  std::vector<PoolIndex> preference{};
  double fallback_after_s = kDefaultFallback_s;
  std::vector<TaskIndex> after{};  // what it waits for before it can wait for GPUs (play.h)
  EligibleNodesPtr eligible{};     // null: every node
  std::optional<EligibleNodesPtr> later{};  // once runs have ended; unset: as now
  // Also those that one run keeps from it by its CPU or memory, until it is stopped: none has as
  // many GPUs free as the task needs there. Null: as `eligible`.
  EligibleNodesPtr if_stopped{};
  const EligibleNodes* usable() const { return if_stopped ? if_stopped.get() : eligible.get(); }
  // Of its pods where they are equal, besides GPUs; nullopt: nothing is known.
  std::optional<RestNumber> rest{};
  EligibleNodesPtr preferred{};     // taken first; null: none is
  std::vector<QuotaNeed> quotas{};  // of the ResourceQuotas of its namespace
  // Its pods, where they differ: `eligible` is then what all of them may use. Null: they are equal.
  std::shared_ptr<const MixedPods> mixed{};
  std::vector<DisruptionNeed> disrupts{};  // of its run
  // It comes the moment that the last it waits for (`after`) has ended: the next pod of a Job,
  // whose place is kept for it. Else its controller first has to see the end.
  bool follows_at_once = false;
  // Right-sizing: on these pools it asks for so many GPUs, and not for request_gpus. Each once.
  std::vector<std::pair<PoolIndex, int>> sized{};
};

// How many GPUs it asks for on this pool; no more than its menu has, which is not empty: there,
// where it is right-sized, else anywhere.
int asked_gpus(const PlanTask& task, PoolIndex pool);

// The columns that a plan reads of every waiting task, side by side in memory: following each menu
// would cost more than the decision.
struct TaskDigest {
  double submit_s = 0;
  double deadline_s = kNoDeadline;
  double base_s = 0;          // of the menu
  double fastest_lat_s = 0;   // of the menu's fastest placement
  double fastest_work_s = 0;  // the same
  std::uint64_t pools = 0;    // that the menu has a placement in: bit min(pool, 63)
  int least_gpus = 0;         // of the menu's smallest placement
  std::int64_t id = 0;
  QosClass qos = QosClass::kNormal;
};

// The tasks of a plan, in order of arrival.
class TaskTable {
 public:
  TaskTable() = default;
  explicit TaskTable(std::vector<PlanTask> tasks);

  std::size_t size() const { return tasks_.size(); }
  const PlanTask& operator[](TaskIndex task) const { return tasks_[task]; }
  const std::vector<PlanTask>& tasks() const { return tasks_; }
  bool any_preference() const { return any_preference_; }
  std::size_t queues() const { return queues_; }  // above every PlanTask::queue
  const TaskDigest& digest(TaskIndex task) const { return digests_[task]; }
  const std::vector<std::string>& types() const { return types_; }        // sorted
  std::uint32_t type_of(TaskIndex task) const { return type_of_[task]; }  // into types()

 private:
  std::vector<PlanTask> tasks_;
  std::vector<TaskDigest> digests_;
  bool any_preference_ = false;
  std::size_t queues_ = 0;
  std::vector<std::string> types_;
  std::vector<std::uint32_t> type_of_;
};

}  // namespace slackline::core

// PlanState: what a plan is made on: tasks, where they stand, and the GPUs they hold. A policy
// keeps no memory; what must be remembered lies here.
//
//            arrive            start            finish
//   kFuture --------> kWaiting ------> kRunning ------> kFinished
//                        ^                |
//                        +----- stop -----+      (a preemption)
//
// A verb that the diagram does not show for the task's phase aborts. Task times are seconds on one
// clock; work counts down in `left`, in whole checkpoints where a run is stopped.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slackline/core/free_gpus.h"
#include "slackline/core/menu.h"
#include "slackline/core/model_error.h"
#include "slackline/core/task_list.h"
#include "slackline/model/task_intent.h"

namespace slackline::core {

inline constexpr double kNoDeadline = std::numeric_limits<double>::infinity();

// What does not change about a task.
struct PlanTask {
  std::int64_t id = 0;  // unique; the last key of every order
  double submit_s = 0;
  double deadline_s = kNoDeadline;  // the promise (eq 9); none: best effort, served with late tasks
  QosClass qos = QosClass::kNormal;
  int request_gpus = 1;                       // what the user asked for
  std::string type;                           // workload type
  double restart_s = 60;                      // start-up after a stop
  double checkpoint_s = 600;                  // a stop loses what was done since; 0 = nothing
  bool preemptible = true;                    // may be stopped for others
  std::shared_ptr<const PlacementMenu> menu;  // required; an empty one can never be served
  EligibleNodesPtr eligible{};                // null: every node
};

// The tasks of a plan, in order of arrival.
class TaskTable {
 public:
  TaskTable() = default;
  explicit TaskTable(std::vector<PlanTask> tasks);

  std::size_t size() const { return tasks_.size(); }
  const PlanTask& operator[](TaskIndex task) const { return tasks_[task]; }
  const std::vector<PlanTask>& tasks() const { return tasks_; }
  const std::vector<std::string>& types() const { return types_; }        // sorted
  std::uint32_t type_of(TaskIndex task) const { return type_of_[task]; }  // into types()

 private:
  std::vector<PlanTask> tasks_;
  std::vector<std::string> types_;
  std::vector<std::uint32_t> type_of_;
};

enum class TaskPhase : std::uint8_t { kFuture, kWaiting, kRunning, kFinished };

// A task on its GPUs, from one start to the finish or stop that ends it.
struct Run {
  ChoiceIndex choice = 0;
  std::vector<PoolNode> nodes;  // d_gpn GPUs on each, in the order they were found
  bool promoted = false;        // started out of the share of tasks that waited too long
  double started_s = 0;
  double overhead_s = 0;       // start-up, before any work is done
  double left = 1;             // of the task's work, when it started
  double predicted_end_s = 0;  // by the model, or by progress reports
  // Work of the whole task here as the run itself shows it; the prediction where it shows nothing.
  // What a stop leaves is counted by it. No policy reads it.
  double observed_work_s = 0;
};

// Where a task stands.
struct TaskProgress {
  TaskPhase phase = TaskPhase::kFuture;
  int stops = 0;      // times preempted
  double left = 1;    // share of the work still to do
  double over_s = 0;  // extra start-up of the next run
  std::optional<double> first_start_s;
  double finished_s = 0;
  Run run;  // while kRunning
};

class PlanState {
 public:
  // `tasks` must outlive the state.
  PlanState(const TaskTable& tasks, FreeGpus free);

  // The same state over a table that begins with the same tasks; the further ones are in the
  // future.
  PlanState with(const TaskTable& more) const;

  // A task with an empty menu arrives, but never waits: nothing can be done for it.
  void arrive(TaskIndex task);
  // The run of a start now; nodes as given, else by FreeGpus::find, which must succeed.
  Run run_at(TaskIndex task, ChoiceIndex choice, double now_s, std::vector<PoolNode> nodes) const;
  void start(TaskIndex task, Run run);
  // Keeps whole checkpoints; the task goes to the end of those waiting. Returns the run that ended.
  Run stop(TaskIndex task, double now_s);
  Run finish(TaskIndex task, double now_s);
  // What a run was seen to need; see Run::observed_work_s.
  void observe(TaskIndex task, double work_s) { progress_[task].run.observed_work_s = work_s; }
  // What an earlier plan or life of the planner knew of a task that has not started here.
  void recall(TaskIndex task, int stops, double left, double over_s);
  void set_next_wake(double next_wake_s) { next_wake_s_ = next_wake_s; }
  void believe(const ModelError& error) { error_ = error; }

  const TaskTable& tasks() const { return *tasks_; }
  const TaskProgress& progress(TaskIndex task) const { return progress_[task]; }
  const TaskList& waiting() const { return waiting_; }  // by arrival or last stop
  const TaskList& running() const { return running_; }  // by start
  const FreeGpus& free() const { return free_; }
  double last_arrival_s() const { return last_arrival_s_; }  // 0 before the first
  double next_wake_s() const { return next_wake_s_; }        // asked for last; -1 before that
  const ModelError& error() const { return error_; }         // of the runs that finished

  const Choice& choice(TaskIndex task, ChoiceIndex choice) const {
    return (*tasks_)[task].menu->all[choice];
  }
  const Choice& running_choice(TaskIndex task) const {
    return choice(task, progress_[task].run.choice);
  }
  // Predicted seconds from a start to the work's beginning, and to the finish (eq 4).
  double overhead_s(TaskIndex task, const Choice& choice) const;
  double lat_s(TaskIndex task, const Choice& choice) const;
  // Share of the work that stays if the run is stopped now and the whole task takes work_s there.
  double left_if_stopped(TaskIndex task, double work_s, double now_s) const;
  // A run that is overdue is expected to take another tenth of its predicted time.
  double predicted_end_s(TaskIndex task, double now_s) const;

 private:
  Run end_run(TaskIndex task);

  const TaskTable* tasks_;
  std::vector<TaskProgress> progress_;
  TaskList waiting_;
  TaskList running_;
  FreeGpus free_;
  double last_arrival_s_ = 0;
  double next_wake_s_ = -1;
  ModelError error_;
};

}  // namespace slackline::core

// PlanState: the input of a plan: tasks, their phases, and the GPUs they hold. A policy keeps no
// memory; everything that must be remembered is here.
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
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "slackline/base/duration.h"
#include "slackline/core/planning/free_gpus.h"
#include "slackline/core/planning/loss_accounts.h"
#include "slackline/core/planning/plan_task.h"
#include "slackline/core/planning/shares.h"
#include "slackline/core/planning/task_list.h"
#include "slackline/core/portrait/learn.h"
#include "slackline/core/throughput/model_error.h"
#include "slackline/model/queue_rules.h"
#include "slackline/model/task_intent.h"

namespace slackline::core {

// Where a run takes longer than predicted, it is expected to take this share of the prediction
// more.
inline constexpr double kOverrun = 0.1;
inline constexpr double kForGood_s = 3650 * 86400.0;  // what is left of a run that does not end

// Who was stopped so often borrows no more.
inline constexpr int kMostStopsOfBorrowers = 3;

enum class TaskPhase : std::uint8_t { kFuture, kWaiting, kRunning, kFinished };

// The work that a run itself says is left.
struct ReportedWork {
  double at_s = 0;
  double left = 1;  // of the whole task's work, [0, 1]
};

// A task on its GPUs, from one start to the finish or stop that ends it.
struct Run {
  ChoiceIndex choice = 0;
  std::vector<PoolNode> nodes;  // d_gpn GPUs each time that a node is named, in the order found
  bool promoted = false;        // started out of the share of tasks that waited too long
  double started_s = 0;
  double overhead_s = 0;       // start-up, before any work is done
  double left = 1;             // of the task's work, when it started
  double predicted_end_s = 0;  // from the model, or from progress reports
  // The work of the whole task here, as the run itself shows it, else the prediction. The work left
  // by a stop is computed from it; policies only see it through PlanState::observed_work_s.
  double observed_work_s = 0;
  std::optional<ReportedWork> reported{};
};

// Where a task stands.
struct TaskProgress {
  TaskPhase phase = TaskPhase::kFuture;
  int stops = 0;      // times preempted
  double left = 1;    // share of the work still to do
  double over_s = 0;  // extra start-up of the next run
  std::optional<double> first_start_s;
  double not_before_s = 0;  // while it waits: forecasts do not start it earlier
  double finished_s = 0;
  bool ended_a_run = false;  // in this state: what its pods held of quotas is given back
  Run run;                   // while kRunning
};

// On nodes that are in no pool any more.
struct RunElsewhere {
  QueueNumber queue = 0;
  double until_s = 0;
};

class PlanState {
 public:
  // `tasks` must outlive the state.
  PlanState(const TaskTable& tasks, FreeGpus free);

  // The same state over a table that begins with the same tasks; additional ones are in the future.
  PlanState with(const TaskTable& more) const;

  // A task with an empty menu arrives, but never waits: it cannot be served.
  void arrive(TaskIndex task);
  // GPUs aside, a task that waits finds no room before then.
  void hold_back(TaskIndex task, double until_s) { progress_[task].not_before_s = until_s; }
  // A task that waits is in the future again: as if it had never come.
  void withdraw(TaskIndex task);
  // The run that a start now begins; nodes as given, else by FreeGpus::find, which must succeed.
  Run run_at(TaskIndex task, ChoiceIndex choice, double now_s, std::vector<PoolNode> nodes) const;
  void start(TaskIndex task, Run run);
  // Keeps whole checkpoints; the task goes to the end of those waiting. Returns the run that ended.
  Run stop(TaskIndex task, double now_s);
  Run finish(TaskIndex task, double now_s);
  // The work that a run is observed to need; see Run::observed_work_s.
  void observe(TaskIndex task, double work_s) { progress_[task].run.observed_work_s = work_s; }
  // Restores what an earlier plan or planner knew about a task that has not started here.
  void recall(TaskIndex task, int stops, double left, double over_s);
  // Of these nodes nobody gets what is free.
  void withhold(PoolIndex pool, const std::vector<PoolNode>& nodes);
  // Before any task runs.
  void share_by(std::shared_ptr<const Shares> shares) { shares_ = ShareUse(std::move(shares)); }
  // What the quotas leave beside those that run now, by QuotaNeed::limit.
  void keep_quotas(std::vector<std::int64_t> left) { shares_.keep_quotas(std::move(left)); }
  // It runs on nodes that are in no pool any more: of its queue's tasks that run, which only shares
  // count, it is one until then, by the caller's end_elsewhere().
  void runs_elsewhere(TaskIndex task, double until_s);
  void end_elsewhere(double now_s);
  // When each of them ends; never: nobody knows.
  const std::vector<RunElsewhere>& elsewhere() const { return elsewhere_; }
  void ask_back(PoolIndex pool) { shares_.ask_back(pool); }
  void forget_asks() { shares_.forget_asks(); }
  void set_next_wake(double next_wake_s) { next_wake_s_ = next_wake_s; }
  void believe(const ModelError& error) { error_ = error; }
  // What happened before: runs that ended, and what was lost for the tasks of a queue.
  void recall_accounts(LossAccounts accounts) { accounts_ = std::move(accounts); }
  // The queue of `asker` pays for a run that was stopped for it.
  void charge(TaskIndex asker, double gpu_s, double now_s) {
    accounts_.charge((*tasks_)[asker].queue, now_s, gpu_s);
  }

  const TaskTable& tasks() const { return *tasks_; }
  const TaskProgress& progress(TaskIndex task) const { return progress_[task]; }
  const TaskList& waiting() const { return waiting_; }  // by arrival or last stop
  const TaskList& running() const { return running_; }  // by start
  const FreeGpus& free() const { return free_; }
  const ShareUse& shares() const { return shares_; }
  // By the share of its queue and its quotas, whether there is room or not.
  bool may_use(TaskIndex task, const Choice& choice) const {
    return shares_.admits(use_of(task, choice));
  }
  SharedUse use_of(TaskIndex task, const Choice& choice) const {
    const PlanTask& planned = (*tasks_)[task];
    return {.queue = planned.queue,
            .pool = choice.pool,
            .gpus = choice.gpus,
            .nodes = choice.shape.d_node,
            .stays = stays(task),
            .anew = progress_[task].ended_a_run,
            .quotas = planned.quotas};
  }
  // Its runs are not stopped to give back what they borrowed, so they borrow nothing.
  bool stays(TaskIndex task) const {
    const PlanTask& planned = (*tasks_)[task];
    return planned.keeps_gpus || planned.qos == QosClass::kUrgent ||
           progress_[task].stops >= kMostStopsOfBorrowers;
  }
  // False: its queue's share leaves it none of its placements.
  bool may_use_any(TaskIndex task) const { return is_let_use_any(task, shares_); }
  // False: nor would it if nobody used a GPU.
  bool could_use_any(TaskIndex task) const { return is_let_use_any(task, shares_.unused()); }
  // When any task but this one, which has arrived, came last; long ago if none did.
  double last_arrival_beside_s(TaskIndex task) const {
    const bool last = tasks_->digest(task).submit_s >= last_arrival_s_;
    return last ? arrival_before_s_ : last_arrival_s_;
  }
  double next_wake_s() const { return next_wake_s_; }  // asked for last; -1 before that
  const ModelError& error() const { return error_; }   // of the runs that finished
  // What each queue may still make others lose; below 0: it has spent more, or is barred. O(runs of
  // the last day).
  std::vector<double> budgets_left_gpu_s(const LossBudget& budget, double now_s) const;
  // The queue of the task had others stopped in vain, and stops nobody now.
  bool is_barred(TaskIndex task, double now_s) const {
    return accounts_.is_barred((*tasks_)[task].queue, now_s);
  }
  double lost_gpu_s() const { return accounts_.lost_gpu_s(); }  // of all queues, ever

  const Choice& choice(TaskIndex task, ChoiceIndex choice) const {
    return (*tasks_)[task].menu->all[choice];
  }
  const Choice& running_choice(TaskIndex task) const {
    return choice(task, progress_[task].run.choice);
  }
  // Predicted seconds from a start to the work's beginning, and to the finish (eq 4).
  double overhead_s(TaskIndex task, const Choice& chosen) const {
    return (chosen.lat_s - chosen.work_s) + progress_[task].over_s;
  }
  double lat_s(TaskIndex task, const Choice& chosen) const {
    return lat_s(task, chosen.lat_s, chosen.work_s);
  }
  // On the menu's fastest placement.
  double fastest_lat_s(TaskIndex task) const {
    const TaskDigest& digest = tasks_->digest(task);
    return lat_s(task, digest.fastest_lat_s, digest.fastest_work_s);
  }
  // When the pool opens to the task (PlanTask::preference); in the past: it is open.
  double fallback_at_s(TaskIndex task, PoolIndex pool) const;
  // It waits for a GPU type that it names before others.
  bool holds_out(TaskIndex task, double now_s) const;
  bool open(TaskIndex task, PoolIndex pool, double now_s) const {
    return !holds_out(task, now_s) || fallback_at_s(task, pool) <= now_s;
  }
  // Share of the work that stays if the run is stopped now and the whole task takes work_s there.
  double left_if_stopped(TaskIndex task, double work_s, double now_s) const;
  // TaskProgress::left after stop(), never 0.
  double left_after_stop(TaskIndex task, double now_s) const;
  bool runs_for_good(TaskIndex task) const;  // endless, and nobody says that it ends
  // A run that is overdue is expected to take another tenth of its predicted time.
  double predicted_end_s(TaskIndex task, double now_s) const;
  // When the run ends by its own report, if the whole task takes work_s; nullopt: it told none.
  std::optional<double> reported_end_s(TaskIndex task, double work_s) const;
  // The work of the whole task here, and its end, as the run itself shows them; as predicted in its
  // first minute of work, which shows little.
  double observed_work_s(TaskIndex task, double now_s) const;
  double observed_end_s(TaskIndex task, double now_s) const;
  // The same end where the run is overdue, too: it has passed.
  double observed_due_s(TaskIndex task, double now_s) const;

 private:
  double lat_s(TaskIndex task, double fresh_lat_s, double work_s) const {
    const TaskProgress& progress = progress_[task];
    if (progress.stops == 0) return fresh_lat_s;
    return work_s * progress.left + (fresh_lat_s - work_s) + progress.over_s;
  }
  bool is_let_use_any(TaskIndex task, const ShareUse& shares) const;
  Run end_run(TaskIndex task, double now_s);
  bool shows_speed(TaskIndex task, double now_s) const;
  double end_or_overrun_s(TaskIndex task, double end_s, double now_s) const;

  const TaskTable* tasks_;
  std::vector<TaskProgress> progress_;
  TaskList waiting_;
  TaskList running_;
  FreeGpus free_;
  ShareUse shares_;
  std::vector<RunElsewhere> elsewhere_;
  double last_arrival_s_ = -kNoDeadline;
  double arrival_before_s_ = -kNoDeadline;
  double next_wake_s_ = -1;
  ModelError error_;
  LossAccounts accounts_;
};

}  // namespace slackline::core

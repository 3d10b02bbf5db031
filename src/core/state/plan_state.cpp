#include "slackline/core/plan_state.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace slackline::core {
namespace {

constexpr double kLeastLeft = 0.001;  // a stopped task always has something left to do
constexpr double kOverrun = 0.1;      // of the predicted time, once that has passed

void must(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

TaskTable::TaskTable(std::vector<PlanTask> tasks) : tasks_(std::move(tasks)) {
  for (const PlanTask& task : tasks_)
    types_.push_back(task.type);
  std::sort(types_.begin(), types_.end());
  types_.erase(std::unique(types_.begin(), types_.end()), types_.end());
  for (const PlanTask& task : tasks_)
    type_of_.push_back(static_cast<std::uint32_t>(
        std::lower_bound(types_.begin(), types_.end(), task.type) - types_.begin()));
}

PlanState::PlanState(const TaskTable& tasks, FreeGpus free)
    : tasks_(&tasks), progress_(tasks.size()), free_(std::move(free)) {}

PlanState PlanState::with(const TaskTable& more) const {
  PlanState state = *this;
  state.tasks_ = &more;
  state.progress_.resize(more.size());
  return state;
}

void PlanState::arrive(TaskIndex task) {
  must(progress_[task].phase == TaskPhase::kFuture);
  progress_[task].phase = TaskPhase::kWaiting;
  last_arrival_s_ = std::max(last_arrival_s_, (*tasks_)[task].submit_s);
  if (!(*tasks_)[task].menu->empty()) waiting_.push_back(task);
}

Run PlanState::run_at(TaskIndex task, ChoiceIndex index, double now_s,
                      std::vector<PoolNode> nodes) const {
  const Choice& o = choice(task, index);
  Run run;
  run.choice = index;
  run.nodes =
      nodes.empty() ? free_.find(o.pool, o.shape, (*tasks_)[task].eligible.get()) : std::move(nodes);
  must(!run.nodes.empty());
  run.started_s = now_s;
  run.overhead_s = overhead_s(task, o);
  run.left = progress_[task].left;
  run.predicted_end_s = now_s + lat_s(task, o);
  run.observed_work_s = o.work_s;
  return run;
}

void PlanState::start(TaskIndex task, Run run) {
  TaskProgress& progress = progress_[task];
  must(progress.phase == TaskPhase::kWaiting);
  const Choice& o = choice(task, run.choice);
  free_.take(o.pool, run.nodes, o.shape.d_gpn);
  waiting_.remove(task);
  running_.push_back(task);
  progress.phase = TaskPhase::kRunning;
  if (!progress.first_start_s) progress.first_start_s = run.started_s;
  progress.run = std::move(run);
}

Run PlanState::end_run(TaskIndex task) {
  TaskProgress& progress = progress_[task];
  must(progress.phase == TaskPhase::kRunning);
  const Choice& o = choice(task, progress.run.choice);
  free_.give_back(o.pool, progress.run.nodes, o.shape.d_gpn);
  running_.remove(task);
  return std::move(progress.run);
}

Run PlanState::stop(TaskIndex task, double now_s) {
  TaskProgress& progress = progress_[task];
  must(progress.phase == TaskPhase::kRunning);
  const double left = left_if_stopped(task, progress.run.observed_work_s, now_s);
  const double startup_s = running_choice(task).startup_s;
  Run run = end_run(task);
  progress.left = std::max(kLeastLeft, left);
  progress.over_s = (*tasks_)[task].restart_s - startup_s;
  progress.stops += 1;
  progress.phase = TaskPhase::kWaiting;
  waiting_.push_back(task);
  return run;
}

Run PlanState::finish(TaskIndex task, double now_s) {
  TaskProgress& progress = progress_[task];
  Run run = end_run(task);
  progress.phase = TaskPhase::kFinished;
  progress.finished_s = now_s;
  progress.left = 0;
  error_.add(now_s - run.started_s - run.overhead_s, choice(task, run.choice).work_s * run.left);
  return run;
}

void PlanState::recall(TaskIndex task, int stops, double left, double over_s) {
  TaskProgress& progress = progress_[task];
  must(progress.phase == TaskPhase::kFuture || progress.phase == TaskPhase::kWaiting);
  progress.stops = stops;
  progress.left = left;
  progress.over_s = over_s;
}

double PlanState::overhead_s(TaskIndex task, const Choice& o) const {
  return (o.lat_s - o.work_s) + progress_[task].over_s;
}

double PlanState::lat_s(TaskIndex task, const Choice& o) const {
  const TaskProgress& progress = progress_[task];
  if (progress.stops == 0) return o.lat_s;
  return o.work_s * progress.left + (o.lat_s - o.work_s) + progress.over_s;
}

double PlanState::left_if_stopped(TaskIndex task, double work_s, double now_s) const {
  const Run& run = progress_[task].run;
  const double checkpoint_s = (*tasks_)[task].checkpoint_s;
  double done_s = std::max(0.0, now_s - run.started_s - run.overhead_s);
  if (checkpoint_s > 0) done_s -= std::fmod(done_s, checkpoint_s);
  return std::max(0.0, run.left - done_s / work_s);
}

double PlanState::predicted_end_s(TaskIndex task, double now_s) const {
  const Run& run = progress_[task].run;
  if (run.predicted_end_s > now_s) return run.predicted_end_s;
  return now_s + kOverrun * lat_s(task, choice(task, run.choice));
}

}  // namespace slackline::core

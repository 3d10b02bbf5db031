#include "slackline/core/planning/plan_state.h"

#include <algorithm>
#include <cstdlib>

#include "slackline/base/duration.h"
#include "slackline/core/planning/deadline.h"
#include "slackline/core/planning/lost_work.h"
#include "slackline/core/planning/mixed_pods.h"
#include "slackline/core/planning/overtime.h"

namespace slackline::core {
namespace {

constexpr double kLeastLeft = 0.001;  // a stopped task always has something left to do
constexpr double kShows_s = 60;       // of work, before the speed of a run is believed

void must(bool holds) {
  if (!holds) std::abort();
}

TaskDigest digest_of(const PlanTask& task) {
  TaskDigest digest;
  digest.submit_s = task.submit_s;
  digest.deadline_s = task.deadline_s;
  digest.base_s = task.menu->base_s;
  digest.id = task.id;
  digest.qos = task.qos;
  if (task.menu->empty()) return digest;
  digest.least_gpus = task.menu->all[task.menu->by_size.front()].gpus;
  digest.fastest_lat_s = task.menu->fastest().lat_s;
  digest.fastest_work_s = task.menu->fastest().work_s;
  for (const Choice& choice : task.menu->all)
    digest.pools |= pool_bit(choice.pool);
  return digest;
}

}  // namespace

int asked_gpus(const PlanTask& task, PoolIndex pool) {
  const PlacementMenu& menu = *task.menu;
  for (const auto& [on, gpus] : task.sized) {
    if (on != pool) continue;
    int most = 0;
    for (const Choice& choice : menu.all)
      if (choice.pool == pool) most = std::max(most, choice.gpus);
    return std::min(gpus, most);
  }
  return std::min(task.request_gpus, menu.all[menu.by_size.back()].gpus);
}

TaskTable::TaskTable(std::vector<PlanTask> tasks) : tasks_(std::move(tasks)) {
  digests_.reserve(tasks_.size());
  for (const PlanTask& task : tasks_) {
    digests_.push_back(digest_of(task));
    any_preference_ = any_preference_ || !task.preference.empty();
    queues_ = std::max(queues_, std::size_t{task.queue} + 1);
  }
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
  const double submit_s = (*tasks_)[task].submit_s;
  arrival_before_s_ = std::max(arrival_before_s_, std::min(last_arrival_s_, submit_s));
  last_arrival_s_ = std::max(last_arrival_s_, submit_s);
  if (!(*tasks_)[task].menu->empty()) waiting_.push_back(task);
}

void PlanState::withdraw(TaskIndex task) {
  must(progress_[task].phase == TaskPhase::kWaiting);
  progress_[task].phase = TaskPhase::kFuture;
  if (!(*tasks_)[task].menu->empty()) waiting_.remove(task);
}

Run PlanState::run_at(TaskIndex task, ChoiceIndex index, double now_s,
                      std::vector<PoolNode> nodes) const {
  const Choice& chosen = choice(task, index);
  Run run;
  run.choice = index;
  run.nodes = nodes.empty() ? find_room(free_, (*tasks_)[task], chosen) : std::move(nodes);
  must(!run.nodes.empty());
  run.started_s = now_s;
  run.overhead_s = overhead_s(task, chosen);
  run.left = progress_[task].left;
  run.predicted_end_s = now_s + lat_s(task, chosen);
  run.observed_work_s = chosen.work_s;
  return run;
}

void PlanState::start(TaskIndex task, Run run) {
  TaskProgress& progress = progress_[task];
  must(progress.phase == TaskPhase::kWaiting);
  const Choice& chosen = choice(task, run.choice);
  take(free_, (*tasks_)[task], chosen, run.nodes);
  shares_.begin(use_of(task, chosen));
  waiting_.remove(task);
  running_.push_back(task);
  progress.phase = TaskPhase::kRunning;
  if (!progress.first_start_s) progress.first_start_s = run.started_s;
  progress.run = std::move(run);
}

bool PlanState::is_let_use_any(TaskIndex task, const ShareUse& shares) const {
  if (shares.shares() == nullptr) return true;
  const std::vector<Choice>& all = (*tasks_)[task].menu->all;
  return std::any_of(all.begin(), all.end(), [&](const Choice& choice) {
    SharedUse use = use_of(task, choice);
    use.quotas = {};
    return shares.admits(use);
  });
}

Run PlanState::end_run(TaskIndex task, double now_s) {
  TaskProgress& progress = progress_[task];
  must(progress.phase == TaskPhase::kRunning);
  const Choice& chosen = choice(task, progress.run.choice);
  give_back(free_, (*tasks_)[task], chosen, progress.run.nodes);
  shares_.end(use_of(task, chosen));
  progress.ended_a_run = true;
  running_.remove(task);
  accounts_.use((*tasks_)[task].queue, progress.run.started_s, now_s, chosen.gpus);
  return std::move(progress.run);
}

Run PlanState::stop(TaskIndex task, double now_s) {
  TaskProgress& progress = progress_[task];
  must(progress.phase == TaskPhase::kRunning);
  const double left = left_after_stop(task, now_s);
  const double startup_s = running_choice(task).startup_s;
  Run run = end_run(task, now_s);
  progress.left = left;
  progress.over_s = (*tasks_)[task].restart_s - startup_s;
  progress.stops += 1;
  progress.phase = TaskPhase::kWaiting;
  waiting_.push_back(task);
  return run;
}

Run PlanState::finish(TaskIndex task, double now_s) {
  TaskProgress& progress = progress_[task];
  Run run = end_run(task, now_s);
  progress.phase = TaskPhase::kFinished;
  progress.finished_s = now_s;
  progress.left = 0;
  error_.add(now_s - run.started_s - run.overhead_s, choice(task, run.choice).work_s * run.left);
  return run;
}

std::vector<double> PlanState::budgets_left_gpu_s(const LossBudget& budget, double now_s) const {
  std::vector<double> used_gpu_s(tasks_->queues());
  for (QueueNumber queue = 0; queue < used_gpu_s.size(); ++queue)
    used_gpu_s[queue] = accounts_.used_gpu_s(queue, now_s);
  for (const TaskIndex task : running_)
    used_gpu_s[(*tasks_)[task].queue] +=
        used_lately_gpu_s(progress_[task].run.started_s, now_s, running_choice(task).gpus, now_s);
  std::vector<double> left_gpu_s;
  for (QueueNumber queue = 0; queue < used_gpu_s.size(); ++queue)
    left_gpu_s.push_back(accounts_.is_barred(queue, now_s)
                             ? -1
                             : budget.of(used_gpu_s[queue]) - accounts_.lost_gpu_s(queue, now_s));
  return left_gpu_s;
}

void PlanState::recall(TaskIndex task, int stops, double left, double over_s) {
  TaskProgress& progress = progress_[task];
  must(progress.phase == TaskPhase::kFuture || progress.phase == TaskPhase::kWaiting);
  progress.stops = stops;
  progress.left = left;
  progress.over_s = over_s;
}

void PlanState::withhold(PoolIndex pool, const std::vector<PoolNode>& nodes) {
  for (const PoolNode node : nodes)
    free_.take(pool, {node}, std::max(0, free_.at(pool, node)));
}

void PlanState::runs_elsewhere(TaskIndex task, double until_s) {
  if (shares_.shares() == nullptr) return;
  elsewhere_.push_back({(*tasks_)[task].queue, until_s});
  shares_.count_elsewhere(elsewhere_.back().queue, 1);
}

void PlanState::end_elsewhere(double now_s) {
  std::erase_if(elsewhere_, [&](const RunElsewhere& run) {
    const bool ended = run.until_s <= now_s;
    if (ended) shares_.count_elsewhere(run.queue, -1);
    return ended;
  });
}

bool PlanState::holds_out(TaskIndex task, double now_s) const {
  const PlanTask& planned = (*tasks_)[task];
  return planned.preference.size() > 1 && now_s < planned.submit_s + planned.fallback_after_s;
}

double PlanState::fallback_at_s(TaskIndex task, PoolIndex pool) const {
  const PlanTask& planned = (*tasks_)[task];
  const auto own = std::find(planned.preference.begin(), planned.preference.end(), pool);
  if (own == planned.preference.begin()) return -kNoDeadline;
  double fastest_s = kNoDeadline;  // on the pools before it
  for (const Choice& faster : planned.menu->all)
    if (std::find(planned.preference.begin(), own, faster.pool) != own)
      fastest_s = std::min(fastest_s, lat_s(task, faster));
  const double beyond_rescue_s = planned.deadline_s + kDeadlineTolerance_s - fastest_s;
  const bool none_before = fastest_s == kNoDeadline;
  return none_before ? -kNoDeadline
                     : std::min(beyond_rescue_s, planned.submit_s + planned.fallback_after_s);
}

double PlanState::left_if_stopped(TaskIndex task, double work_s, double now_s) const {
  const SavedWork saved = saved_work(*this, task, now_s);
  if (const auto& reported = progress_[task].run.reported) {
    const double saved_at_s = now_s - unsaved_s(saved);
    return std::clamp(reported->left + (reported->at_s - saved_at_s) / work_s, 0.0, 1.0);
  }
  return std::max(0.0, progress_[task].run.left - (saved.worked_s - unsaved_s(saved)) / work_s);
}

double PlanState::left_after_stop(TaskIndex task, double now_s) const {
  return std::max(kLeastLeft, left_if_stopped(task, progress_[task].run.observed_work_s, now_s));
}

double overtime_s(const Run& run, double work_s, double now_s) {
  const double worked_s = std::max(0.0, now_s - run.started_s - run.overhead_s);
  double to_do_s = run.left * work_s;
  if (run.reported) {
    const double since_s = std::max(0.0, now_s - run.reported->at_s);
    to_do_s -= std::max(0.0, run.reported->left * work_s - since_s);
  }
  return std::max(0.0, worked_s - to_do_s);
}

// No more is lost than the task was planned to hold: what a run reports of its speed may be
// anything.
double wasted_gpu_s(const Run& ended, double work_s, double left, int gpus, double now_s) {
  const double held_s = now_s - ended.started_s;
  const double kept_s = (ended.left - left) * work_s;
  const double lost_s = held_s - overtime_s(ended, work_s, now_s) - kept_s;
  const double most_s = ended.reported ? ended.predicted_end_s - ended.started_s : kNever;
  return lost_gpu_s(
      {.worked_s = held_s, .since_checkpoint_s = std::max(0.0, std::min(lost_s, most_s))}, gpus);
}

SavedWork saved_work(const PlanState& state, TaskIndex task, double now_s) {
  const Run& run = state.progress(task).run;
  const PlanTask& planned = state.tasks()[task];
  SavedWork saved;
  saved.worked_s = std::max(0.0, now_s - run.started_s - run.overhead_s);
  if (planned.last_checkpoint_s) saved.since_checkpoint_s = now_s - *planned.last_checkpoint_s;
  if (planned.checkpoint_s <= 0)
    saved.since_checkpoint_s = 0;
  else if (planned.checkpoint_s < kNever)
    saved.checkpoint_interval_s = planned.checkpoint_s;
  if (run.reported) saved.since_progress_s = now_s - run.reported->at_s;
  saved.restart_s = planned.restart_s;
  return saved;
}

double PlanState::predicted_end_s(TaskIndex task, double now_s) const {
  return end_or_overrun_s(task, progress_[task].run.predicted_end_s, now_s);
}

bool PlanState::runs_for_good(TaskIndex task) const {
  return (*tasks_)[task].endless && !progress_[task].run.reported;
}

double PlanState::end_or_overrun_s(TaskIndex task, double end_s, double now_s) const {
  if (runs_for_good(task)) return now_s + kForGood_s;
  return end_s > now_s ? end_s : now_s + kOverrun * lat_s(task, running_choice(task));
}

std::optional<double> PlanState::reported_end_s(TaskIndex task, double work_s) const {
  const auto& reported = progress_[task].run.reported;
  if (!reported) return std::nullopt;
  return reported->at_s + work_s * reported->left;
}

bool PlanState::shows_speed(TaskIndex task, double now_s) const {
  const Run& run = progress_[task].run;
  return now_s - run.started_s - run.overhead_s >= kShows_s;
}

double PlanState::observed_work_s(TaskIndex task, double now_s) const {
  return shows_speed(task, now_s) ? progress_[task].run.observed_work_s
                                  : running_choice(task).work_s;
}

double PlanState::observed_due_s(TaskIndex task, double now_s) const {
  if (const auto end_s = reported_end_s(task, observed_work_s(task, now_s))) return *end_s;
  const Run& run = progress_[task].run;
  if (!shows_speed(task, now_s)) return run.predicted_end_s;
  return run.started_s + run.overhead_s + run.observed_work_s * run.left;
}

double PlanState::observed_end_s(TaskIndex task, double now_s) const {
  return end_or_overrun_s(task, observed_due_s(task, now_s), now_s);
}

}  // namespace slackline::core

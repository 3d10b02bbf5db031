#include "sim/presets/share_day.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "slackline/base/duration.h"
#include "slackline/core/planning/deadline.h"

namespace slackline::sim {
namespace {

using core::TaskIndex;

constexpr double kShareDayEnd_s = 30 * 24 * kHour_s;  // of a day whose tasks are never done

// The tasks of the day, then those that hold the extra GPUs before they come, then those that hold
// them when they have gone: as many each.
std::vector<core::PlanTask> with_holders(const ShareDay& day) {
  std::vector<core::PlanTask> tasks = day.tasks;
  const ExtraNodes& extra = day.extra;
  if (extra.nodes == 0) return tasks;
  const int gpus = extra.nodes * day.pools[extra.pool].gpus_per_node;
  std::int64_t id = 0;
  for (const core::PlanTask& task : day.tasks)
    id = std::max(id, task.id + 1);
  for (int i = 0; i < 2 * gpus; ++i) {
    const bool before = i < gpus;
    core::PlanTask holder;
    holder.id = id++;
    holder.submit_s = before ? 0 : extra.until_s;
    holder.queue = day.departments;
    holder.preemptible = false;
    holder.qos = QosClass::kUrgent;  // nobody is stopped less
    const double work_s = before ? extra.from_s : kShareDayEnd_s;
    holder.menu = std::make_shared<const core::PlacementMenu>(
        core::make_menu({{extra.pool, {1, 1}, 1, work_s}}, day.pools, {}));
    tasks.push_back(std::move(holder));
  }
  return tasks;
}

class ShareDayPlayer {
 public:
  explicit ShareDayPlayer(const ShareDay& day)
      : day_(day),
        tasks_(with_holders(day)),
        state_(tasks_, core::FreeGpus(day.pools)),
        next_holder_(static_cast<TaskIndex>(day.tasks.size())) {
    if (day.shares != nullptr) state_.share_by(day.shares);
    for (const core::PlanTask& task : tasks_.tasks())
      went_.push_back({task.queue, task.submit_s, task.deadline_s});
    if (day.extra.from_s > 0) hold_extra(0);
  }

  std::vector<ShareTask> play(const core::Policy& policy) {
    std::vector<TaskIndex> arrivals(day_.tasks.size());
    std::iota(arrivals.begin(), arrivals.end(), TaskIndex{0});
    core::PlayHooks hooks;
    hooks.work_s = [this](TaskIndex task, const core::Run& run) {
      return state_.choice(task, run.choice).work_s;
    };
    hooks.on_event = [this](double now_s, core::RunEvent event, TaskIndex task,
                            const core::Run& run) { on_event(now_s, event, task, run); };
    hooks.go_on = [this](double now_s) {
      last_s_ = now_s;
      if (now_s >= day_.extra.until_s) hold_extra(now_s);
      return done_ < day_.tasks.size() && now_s < kShareDayEnd_s;
    };
    core::play(state_, policy, arrivals, hooks);
    for (const TaskIndex task : state_.running())
      went_[task].runs.back().until_s = last_s_;
    return std::move(went_);
  }

 private:
  void on_event(double now_s, core::RunEvent event, TaskIndex task, const core::Run& run) {
    if (event == core::RunEvent::kStart) return begin(now_s, task, run);
    went_[task].runs.back().until_s = now_s;
    if (event != core::RunEvent::kFinish) return;
    went_[task].finish_s = now_s;
    if (task < day_.tasks.size()) ++done_;
    // Before a plan gives them to somebody.
    if (now_s >= day_.extra.until_s) hold_extra(now_s);
  }

  void begin(double now_s, TaskIndex task, const core::Run& run) {
    const core::Choice& choice = state_.choice(task, run.choice);
    went_[task].runs.push_back({choice.pool, choice.gpus, now_s, now_s});
  }

  // What is free of the extra nodes.
  void hold_extra(double now_s) {
    const core::PoolIndex pool = day_.extra.pool;
    const auto end = static_cast<core::PoolNode>(day_.pools[pool].nodes);
    for (auto node = end - static_cast<core::PoolNode>(day_.extra.nodes); node < end; ++node)
      while (state_.free().at(pool, node) > 0) {
        const TaskIndex holder = next_holder_++;
        state_.arrive(holder);
        core::Run run = state_.run_at(holder, 0, now_s, {node});
        begin(now_s, holder, run);
        state_.start(holder, std::move(run));
      }
  }

  const ShareDay& day_;
  const core::TaskTable tasks_;
  core::PlanState state_;
  TaskIndex next_holder_;
  std::vector<ShareTask> went_;
  std::size_t done_ = 0;
  double last_s_ = 0;
};

double percentage(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

// Departments without tasks do not count.
double jain_of(const std::vector<double>& values) {
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    sum += value;
    squares += value * value;
  }
  return squares > 0 ? sum * sum / (static_cast<double>(values.size()) * squares) : 1;
}

void count_in_time(const std::vector<ShareTask>& tasks, std::size_t departments,
                   ShareFigures& figures) {
  std::vector<double> in_time(departments + 1);  // the last: of all
  std::vector<double> count(departments + 1);
  for (const ShareTask& task : tasks) {
    if (task.department >= departments) continue;
    const bool met =
        task.finish_s && *task.finish_s <= task.deadline_s + core::kDeadlineTolerance_s;
    for (const std::size_t of : {std::size_t{task.department}, departments}) {
      ++count[of];
      in_time[of] += met ? 1 : 0;
    }
  }
  figures.q = percentage(in_time.back(), count.back());
  std::vector<double> of_department;
  for (std::size_t d = 0; d < departments; ++d)
    if (count[d] > 0) of_department.push_back(percentage(in_time[d], count[d]));
  figures.jain = jain_of(of_department);
}

double gpu_seconds_in(const std::vector<ShareTask>& tasks, std::size_t departments, double day_s) {
  double gpu_s = 0;
  for (const ShareTask& task : tasks)
    for (const ShareTask::Run& run : task.runs)
      if (task.department < departments)
        gpu_s += run.gpus * std::max(0.0, std::min(run.until_s, day_s) - run.from_s);
  return gpu_s;
}

struct ShareMoment {
  enum Kind { kEnd, kCome, kBegin };  // in this order where they are at the same time
  double time_s = 0;
  Kind kind = kEnd;
  std::size_t task = 0;
  std::size_t run = 0;

  friend bool operator<(const ShareMoment& a, const ShareMoment& b) {
    return std::tie(a.time_s, a.kind, a.task, a.run) < std::tie(b.time_s, b.kind, b.task, b.run);
  }
};

// Goes through a day as it went, with an eye on who uses more than its own. It counts for itself:
// core's ShareUse is what is measured here.
class ShareWatch {
 public:
  ShareWatch(const std::vector<ShareTask>& tasks, const core::Shares& shares)
      : tasks_(tasks),
        shares_(shares),
        used_((shares.of_queue.size() + 1) * shares.types.size()),
        room_since_s_(tasks.size()) {}

  void go_through() {
    std::vector<ShareMoment> moments;
    for (std::size_t task = 0; task < tasks_.size(); ++task) {
      const auto& runs = tasks_[task].runs;
      if (runs.empty()) continue;
      // A batch of events is a little earlier than the last of them.
      const double come_s = std::min(tasks_[task].submit_s, runs.front().from_s);
      moments.push_back({come_s, ShareMoment::kCome, task, 0});
      for (std::size_t run = 0; run < runs.size(); ++run) {
        moments.push_back({runs[run].from_s, ShareMoment::kBegin, task, run});
        moments.push_back({runs[run].until_s, ShareMoment::kEnd, task, run});
      }
    }
    std::sort(moments.begin(), moments.end());
    for (const ShareMoment& moment : moments)
      take(moment);
  }

  double borrowed_gpu_h() const { return borrowed_gpu_s_ / kHour_s; }

  double wait_p90_s() {
    if (waits_s_.empty()) return 0;
    std::sort(waits_s_.begin(), waits_s_.end());
    return waits_s_[(9 * waits_s_.size() + 9) / 10 - 1];
  }

 private:
  void take(const ShareMoment& moment) {
    borrowed_gpu_s_ += static_cast<double>(of_others()) * (moment.time_s - now_s_);
    now_s_ = moment.time_s;
    const ShareTask& task = tasks_[moment.task];
    const ShareTask::Run& run = task.runs[moment.run];
    if (moment.kind == ShareMoment::kEnd) used(task.department, run.pool) -= run.gpus;
    if (moment.kind == ShareMoment::kCome) waiting_.push_back(moment.task);
    if (moment.kind == ShareMoment::kBegin) {
      if (moment.run == 0) end_wait(moment.task);
      used(task.department, run.pool) += run.gpus;
    }
    look_for_room(task.department);
  }

  void end_wait(std::size_t task) {
    if (room_since_s_[task]) waits_s_.push_back(now_s_ - *room_since_s_[task]);
    std::erase(waiting_, task);
  }

  void look_for_room(core::QueueNumber department) {
    for (const std::size_t task : waiting_) {
      if (tasks_[task].department != department) continue;
      const ShareTask::Run& first = tasks_[task].runs.front();
      const std::int64_t own = shares_.share(department, shares_.type_of_pool[first.pool]).own;
      if (used(department, first.pool) + first.gpus > own)
        room_since_s_[task].reset();
      else if (!room_since_s_[task])
        room_since_s_[task] = now_s_;
    }
  }

  // What those that have no share use is one row.
  std::int64_t& used(std::size_t department, core::PoolIndex pool) {
    const std::size_t row = std::min(department, shares_.of_queue.size());
    return used_[row * shares_.types.size() + shares_.type_of_pool[pool]];
  }

  std::int64_t of_others() const {
    std::int64_t gpus = 0;
    for (std::uint32_t type = 0; type < shares_.types.size(); ++type) {
      std::int64_t beyond = 0;
      for (std::size_t row = 0; row <= shares_.of_queue.size(); ++row)
        beyond += std::max<std::int64_t>(
            0, used_[row * shares_.types.size() + type] - shares_.share(row, type).own);
      gpus += std::max<std::int64_t>(0, beyond - shares_.pool(type));
    }
    return gpus;
  }

  const std::vector<ShareTask>& tasks_;
  const core::Shares& shares_;
  std::vector<std::int64_t> used_;  // by department, then type
  std::vector<std::size_t> waiting_;
  std::vector<std::optional<double>> room_since_s_;  // of those that wait
  std::vector<double> waits_s_;
  double borrowed_gpu_s_ = 0;
  double now_s_ = 0;
};

}  // namespace

std::vector<ShareTask> play_share_day(const ShareDay& day, const core::Policy& policy) {
  return ShareDayPlayer(day).play(policy);
}

ShareFigures share_figures(const std::vector<ShareTask>& tasks, const core::Shares& shares,
                           const DayCapacity& capacity) {
  const std::size_t departments = shares.of_queue.size();
  ShareFigures figures;
  count_in_time(tasks, departments, figures);
  figures.gpu_use = percentage(gpu_seconds_in(tasks, departments, capacity.day_s), capacity.gpu_s);
  ShareWatch watch(tasks, shares);
  watch.go_through();
  figures.borrowed_gpu_h = watch.borrowed_gpu_h();
  figures.give_back_p90_s = watch.wait_p90_s();
  return figures;
}

}  // namespace slackline::sim

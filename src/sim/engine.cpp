#include "sim/engine.h"

#include <algorithm>
#include <queue>
#include <tuple>

namespace slackline::sim {
namespace {

constexpr double kBatch_s = 1e-6;  // events this close are one
constexpr int kProgressEvery = 1024;
constexpr double kHopeless_s = 86400;

enum class EntryKind { kArrival, kFinish, kWake };

struct Entry {
  double time_s;
  EntryKind kind;
  std::uint64_t seq;
  core::TaskIndex task = 0;
  int run = 0;  // the how-manieth of its task

  friend bool operator>(const Entry& a, const Entry& b) {
    return std::tie(a.time_s, a.kind, a.seq) > std::tie(b.time_s, b.kind, b.seq);
  }
};

class Engine {
 public:
  Engine(const core::TaskTable& tasks, const Platform& platform, const core::Policy& policy,
         const Noise& noise, const SimulationOptions& options)
      : tasks_(tasks),
        platform_(platform),
        policy_(policy),
        noise_(noise),
        options_(options),
        state_(tasks, core::FreeGpus(platform.pools)),
        runs_(tasks.size(), 0) {
    for (core::TaskIndex task = 0; task < tasks.size(); ++task) {
      push(tasks[task].submit_s, EntryKind::kArrival, task);
      last_submit_s_ = std::max(last_submit_s_, tasks[task].submit_s);
    }
  }

  Outcome run() {
    while (!queue_.empty()) {
      const double now_s = queue_.top().time_s;
      while (!queue_.empty() && queue_.top().time_s <= now_s + kBatch_s) {
        const Entry entry = queue_.top();
        queue_.pop();
        take(entry, now_s);
      }
      ++outcome_.batches;
      perform(core::plan(state_, now_s, policy_), now_s);
      if (options_.progress && outcome_.batches % kProgressEvery == 0)
        options_.progress(now_s, finished_);
    }
    return collect();
  }

 private:
  void push(double time_s, EntryKind kind, core::TaskIndex task = 0, int run = 0) {
    queue_.push({time_s, kind, seq_++, task, run});
  }

  void take(const Entry& entry, double now_s) {
    if (entry.kind == EntryKind::kArrival) state_.arrive(entry.task);
    if (entry.kind != EntryKind::kFinish) return;
    const bool current = state_.progress(entry.task).phase == core::TaskPhase::kRunning &&
                         runs_[entry.task] == entry.run;
    if (!current) return;
    ended(EventKind::kFinish, entry.task, state_.finish(entry.task, now_s), now_s);
    ++finished_;
  }

  void perform(core::Plan plan, double now_s) {
    if (!plan.effects.empty() || !state_.running().empty() || !queue_.empty()) active_s_ = now_s;
    for (core::Effect& effect : plan.effects) {
      if (effect.ended) {
        ended(EventKind::kPreempt, effect.task, std::move(*effect.ended), now_s);
        ++outcome_.preemptions;
      }
      if (effect.begun) begun(effect.task, std::move(*effect.begun), now_s);
    }
    const bool hopeless = now_s - active_s_ > kHopeless_s;
    if (plan.next_wake_s && !hopeless) push(*plan.next_wake_s, EntryKind::kWake);
  }

  void begun(core::TaskIndex task, core::Run run, double now_s) {
    const core::Choice& choice = state_.choice(task, run.choice);
    const double true_work_s =
        choice.work_s *
        noise_.factor(tasks_[task], platform_.pools[choice.pool].type.str(), choice.shape);
    state_.observe(task, true_work_s);
    push(now_s + run.overhead_s + true_work_s * run.left, EntryKind::kFinish, task, ++runs_[task]);
    log(EventKind::kStart, task, std::move(run), now_s);
  }

  void ended(EventKind kind, core::TaskIndex task, core::Run run, double now_s) {
    const int gpus = state_.choice(task, run.choice).gpus;
    outcome_.gpu_seconds += gpus * (now_s - run.started_s);
    const double until_s = std::min(now_s, last_submit_s_);
    outcome_.gpu_seconds_arrivals += gpus * std::max(0.0, until_s - run.started_s);
    log(kind, task, std::move(run), now_s);
  }

  void log(EventKind kind, core::TaskIndex task, core::Run run, double now_s) {
    if (options_.keep_events) outcome_.events.push_back({now_s, kind, task, std::move(run)});
  }

  Outcome collect() {
    for (core::TaskIndex task = 0; task < tasks_.size(); ++task) {
      const core::TaskProgress& progress = state_.progress(task);
      outcome_.tasks.push_back({progress.phase == core::TaskPhase::kFinished, progress.finished_s,
                                progress.first_start_s.value_or(0), progress.stops});
    }
    return std::move(outcome_);
  }

  const core::TaskTable& tasks_;
  const Platform& platform_;
  const core::Policy& policy_;
  const Noise& noise_;
  const SimulationOptions& options_;
  core::PlanState state_;
  std::vector<int> runs_;  // started so far, by task
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
  std::uint64_t seq_ = 0;
  std::size_t finished_ = 0;
  double last_submit_s_ = 0;
  double active_s_ = 0;  // when something last ran, was done or was to come
  Outcome outcome_;
};

}  // namespace

Outcome simulate(const core::TaskTable& tasks, const Platform& platform, const core::Policy& policy,
                 const Noise& noise, const SimulationOptions& options) {
  return Engine(tasks, platform, policy, noise, options).run();
}

}  // namespace slackline::sim

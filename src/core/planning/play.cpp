#include "slackline/core/planning/play.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace slackline::core {
namespace {

constexpr double kBatch_s = 1e-6;  // events this close are one
constexpr double kHopeless_s = 86400;
constexpr double kSaidAfter_s = 1;

enum class EntryKind { kArrival, kFinish, kWake };

struct Entry {
  double time_s;
  EntryKind kind;
  std::uint64_t seq;
  TaskIndex task = 0;
  int run = 0;  // which run of the task this is, from 1

  friend bool operator>(const Entry& a, const Entry& b) {
    return std::tie(a.time_s, a.kind, a.seq) > std::tie(b.time_s, b.kind, b.seq);
  }
};

class Player {
 public:
  Player(PlanState& state, const Policy& policy, const PlayHooks& hooks)
      : state_(state), policy_(policy), hooks_(hooks), runs_(state.tasks().size(), 0) {}

  int play(const std::vector<TaskIndex>& arrivals, const PlayOptions& options) {
    for (const TaskIndex task : arrivals)
      if (!comes_after_others(task))
        push(std::max(state_.tasks()[task].submit_s, state_.progress(task).not_before_s),
             EntryKind::kArrival, task);
    for (const TaskIndex task : state_.running())
      push_finish(task, state_.progress(task).run);
    for (const RunElsewhere& run : state_.elsewhere())
      if (run.until_s < kNever) push(run.until_s, EntryKind::kWake);
    if (options.plan_at_s) push(*options.plan_at_s, EntryKind::kWake);
    const double began_s = queue_.empty() ? 0 : queue_.top().time_s;
    int calls = 0;
    bool goes_on = true;
    while (!queue_.empty() && goes_on) {
      double now_s = queue_.top().time_s;
      const double until_s = now_s + std::max(kBatch_s, options.resolution * (now_s - began_s));
      while (!queue_.empty() && queue_.top().time_s <= until_s) {
        const Entry entry = queue_.top();
        queue_.pop();
        if (options.resolution > 0) now_s = entry.time_s;
        take(entry, now_s);
      }
      ++calls;
      perform(plan(state_, now_s, policy_), now_s);
      // The GPUs of what has finished are free before its controller says that it has.
      for (const TaskIndex task : std::exchange(ready_, {}))
        push(now_s + kSaidAfter_s, EntryKind::kArrival, task);
      goes_on = !hooks_.go_on || hooks_.go_on(now_s);
    }
    return calls;
  }

 private:
  bool comes_after_others(TaskIndex task) {
    for (const TaskIndex other : state_.tasks()[task].after)
      if (state_.progress(other).phase != TaskPhase::kFinished) {
        followers_[other].push_back(task);
        ++awaited_[task];
      }
    return awaited_.contains(task);
  }

  void push(double time_s, EntryKind kind, TaskIndex task = 0, int run = 0) {
    queue_.push({time_s, kind, seq_++, task, run});
  }

  void push_finish(TaskIndex task, const Run& run) {
    const double work_s = hooks_.work_s(task, run);
    state_.observe(task, work_s);
    push(run.started_s + run.overhead_s + work_s * run.left, EntryKind::kFinish, task,
         ++runs_[task]);
  }

  void take(const Entry& entry, double now_s) {
    if (entry.kind == EntryKind::kWake) state_.end_elsewhere(entry.time_s);
    // The batch may be a little earlier than the wake-up: it has come all the same.
    if (entry.kind == EntryKind::kWake && entry.time_s == state_.next_wake_s())
      state_.set_next_wake(std::min(entry.time_s, now_s));
    if (entry.kind == EntryKind::kArrival) state_.arrive(entry.task);
    if (entry.kind != EntryKind::kFinish) return;
    const bool current =
        state_.progress(entry.task).phase == TaskPhase::kRunning && runs_[entry.task] == entry.run;
    if (!current) return;
    report(now_s, RunEvent::kFinish, entry.task, state_.finish(entry.task, now_s));
    if (const auto at = followers_.find(entry.task); at != followers_.end())
      for (const TaskIndex task : at->second)
        if (--awaited_[task] == 0) come(task);
  }

  void come(TaskIndex task) {
    if (state_.tasks()[task].follows_at_once)
      state_.arrive(task);
    else
      ready_.push_back(task);
  }

  void perform(const Plan& plan, double now_s) {
    if (!plan.effects.empty() || !state_.running().empty() || !queue_.empty()) active_s_ = now_s;
    for (const Effect& effect : plan.effects) {
      if (effect.ended) report(now_s, RunEvent::kPreempt, effect.task, *effect.ended);
      if (!effect.begun) continue;
      push_finish(effect.task, *effect.begun);
      report(now_s, RunEvent::kStart, effect.task, *effect.begun);
    }
    const bool hopeless = now_s - active_s_ > kHopeless_s;
    if (plan.next_wake_s && !hopeless) push(*plan.next_wake_s, EntryKind::kWake);
  }

  void report(double now_s, RunEvent event, TaskIndex task, const Run& run) const {
    if (hooks_.on_event) hooks_.on_event(now_s, event, task, run);
  }

  PlanState& state_;
  const Policy& policy_;
  const PlayHooks& hooks_;
  std::vector<int> runs_;                                            // started so far, by task
  std::unordered_map<TaskIndex, std::vector<TaskIndex>> followers_;  // that come after a task
  std::unordered_map<TaskIndex, int> awaited_;  // how many each of them still awaits
  std::vector<TaskIndex> ready_;                // those that await nothing any more
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
  std::uint64_t seq_ = 0;
  double active_s_ = 0;  // when something last ran, was done or was expected
};

}  // namespace

int play(PlanState& state, const Policy& policy, const std::vector<TaskIndex>& arrivals,
         const PlayHooks& hooks, const PlayOptions& options) {
  return Player(state, policy, hooks).play(arrivals, options);
}

}  // namespace slackline::core

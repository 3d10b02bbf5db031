#include "slackline/core/planning/rollout.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "quantiles.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/core/planning/deadline.h"
#include "slackline/core/planning/task_menu.h"

namespace slackline::core {
namespace {

struct Times {
  double start_s = kNever;
  double finish_s = kNever;
};

// Tasks like those that are expected, shifted as in this future.
std::vector<PlanTask> expected_in(int number, double now_s, const RolloutOptions& options) {
  std::vector<PlanTask> all;
  if (options.expected.empty() || !(options.window_s > 0)) return all;
  double first_s = kNever;
  for (const PlanTask& task : options.expected)
    first_s = std::min(first_s, task.submit_s);
  const double shift_s = options.window_s * number / kScenarios;
  std::int64_t id = -1;
  const auto windows = static_cast<int>(std::ceil(options.horizon_s / options.window_s));
  for (int window = 0; window < windows; ++window)
    for (const PlanTask& like : options.expected) {
      const double from_s = window * options.window_s;
      PlanTask task = like;
      task.id = id--;
      task.submit_s =
          now_s + from_s + std::fmod(like.submit_s - first_s + shift_s, options.window_s);
      task.deadline_s += task.submit_s - like.submit_s;
      all.push_back(std::move(task));
    }
  return all;
}

// One future.
class Scenario {
 public:
  // `arrivals` come in it.
  Scenario(double now_s, int number, double rms, const RolloutOptions& options,
           const std::vector<TaskIndex>& arrivals)
      : now_s_(now_s), number_(number), options_(options), rms_(rms), arrivals_(arrivals) {}

  // By task asked about: its start and finish. `future` is the state after the plan of now.
  std::vector<Times> play_for(PlanState future, const Policy& policy, std::optional<double> wake_s,
                              const std::vector<TaskIndex>& asked) {
    std::unordered_map<TaskIndex, Times> times;
    std::size_t open = asked.size();
    // Where nobody stops a run its finish is known when it starts.
    const bool stops = may_stop_runs(future, policy);
    const auto start = [&](TaskIndex task, const Run& run) {
      const auto found = times.find(task);
      if (found == times.end()) return;
      found->second.start_s = std::min(found->second.start_s, run.started_s);
      if (stops) return;
      found->second.finish_s =
          run.started_s + run.overhead_s + work_s(future, task, run) * run.left;
      --open;
    };
    for (const TaskIndex task : asked) {
      times[task] = {};
      const Run& run = future.progress(task).run;
      if (future.progress(task).phase == TaskPhase::kRunning) start(task, run);
    }
    PlayHooks hooks;
    hooks.work_s = [&](TaskIndex task, const Run& run) { return lasting_s(future, task, run); };
    hooks.on_event = [&](double at_s, RunEvent event, TaskIndex task, const Run& run) {
      if (event == RunEvent::kStart) start(task, run);
      const auto found = times.find(task);
      if (event != RunEvent::kFinish || !stops || found == times.end()) return;
      found->second.finish_s = at_s + left_undone_s(future, task, run);
      --open;
    };
    hooks.go_on = [&](double at_s) { return goes_on(at_s) && open > 0; };
    if (open > 0) play(future, policy, arrivals_, hooks, {wake_s, options_.resolution});
    std::vector<Times> result;
    for (const TaskIndex task : asked)
      result.push_back(times[task]);
    return result;
  }

  void watch(PlanState future, const Policy& policy, std::optional<double> wake_s,
             const Futures::Look& look) {
    look(number_, now_s_, future);
    PlayHooks hooks;
    hooks.work_s = [&](TaskIndex task, const Run& run) { return lasting_s(future, task, run); };
    hooks.go_on = [&](double at_s) {
      look(number_, at_s, future);
      return goes_on(at_s);
    };
    play(future, policy, arrivals_, hooks, {wake_s, options_.resolution});
  }

  bool stopped() const { return stopped_; }

 private:
  bool goes_on(double at_s) {
    stopped_ = is_asked(options_.stop);
    return !stopped_ && at_s - now_s_ < options_.horizon_s;
  }

  // How long the whole task takes on this placement, in this future.
  double work_s(const PlanState& future, TaskIndex task, const Run& run) {
    const Choice& choice = future.choice(task, run.choice);
    const double predicted_s = choice.work_s;
    const bool exact = options_.futures == kAsPredicted;
    const double rms = exact ? 0 : choice.error > 0 ? choice.error : rms_;
    const double elapsed_s = now_s_ - run.started_s - run.overhead_s;
    if (const auto end_s = future.reported_end_s(task, run.observed_work_s)) {
      const double needed_s = *end_s - run.started_s - run.overhead_s;
      return (needed_s > elapsed_s ? needed_s : elapsed_s + kOverrun * predicted_s) / run.left;
    }
    if (future.tasks()[task].endless) return std::max(0.0, elapsed_s) / run.left + kForGood_s;
    const double overrun_s = elapsed_s / run.left + kOverrun * predicted_s;
    if (rms == 0) return elapsed_s >= predicted_s * run.left ? overrun_s : predicted_s;
    double z = error_quantile(future, task, run);
    if (run.started_s < now_s_ && elapsed_s > 0) {
      const double gone = normal_cdf(std::log(elapsed_s / (predicted_s * run.left)) / rms);
      if (gone > kExplained) return overrun_s;
      z = normal_quantile(std::min(gone + (1 - gone) * normal_cdf(z), kCertain));
    }
    return std::max(predicted_s * std::exp(rms * z), elapsed_s / run.left);
  }

  // What a run still had to do when its time limit ended it: its own finish is when it is done.
  double left_undone_s(const PlanState& future, TaskIndex task, const Run& run) {
    if (!std::isfinite(future.tasks()[task].limit_s)) return 0;
    return std::max(0.0, work_s(future, task, run) - run.observed_work_s) * run.left;
  }

  // How long it takes, or until its time limit ends it: then others have its GPUs.
  double lasting_s(const PlanState& future, TaskIndex task, const Run& run) {
    const double limit_s = future.tasks()[task].limit_s - run.overhead_s;
    return std::min(work_s(future, task, run), std::max(0.0, limit_s) / run.left);
  }

  // Half of the variance is the task's own, half is shared by runs of the type in the placement: a
  // model that is wrong about one of them is wrong about all of them.
  double error_quantile(const PlanState& future, TaskIndex task, const Run& run) {
    const PlanTask& planned = future.tasks()[task];
    const double own = stratum_quantile(
        planned.part_of ? static_cast<std::int64_t>(*planned.part_of) : planned.id, number_);
    return (own + shared_quantile(future.tasks(), task, future.choice(task, run.choice))) /
           std::sqrt(2.0);
  }

  double shared_quantile(const TaskTable& tasks, TaskIndex task, const Choice& choice) {
    const auto [at, first] = shared_.try_emplace(
        std::tuple(tasks.type_of(task), choice.pool, choice.shape.d_node, choice.shape.d_gpn));
    if (first) {
      const std::uint64_t kind =
          fingerprint(format("{} {} {}", tasks[task].type, choice.pool, choice.shape.str()));
      at->second = stratum_quantile(static_cast<std::int64_t>(kind), number_);
    }
    return at->second;
  }

  static constexpr double kCertain = 1 - 1e-9;
  // Of a run that is longer than all but so few would be, the error says nothing more: it would end
  // at once, for ever.
  static constexpr double kExplained = 0.999;

  bool stopped_ = false;
  double now_s_;
  int number_;
  const RolloutOptions& options_;
  double rms_;
  const std::vector<TaskIndex>& arrivals_;
  // By type, pool and shape.
  std::map<std::tuple<std::uint32_t, PoolIndex, int, int>, double> shared_;
};

bool any_claims_error(const PlanState& state) {
  const auto claims = [&](TaskIndex task) {
    const std::vector<Choice>& all = state.tasks()[task].menu->all;
    return std::any_of(all.begin(), all.end(), [](const Choice& c) { return c.error > 0; });
  };
  return std::any_of(state.waiting().begin(), state.waiting().end(), claims) ||
         std::any_of(state.running().begin(), state.running().end(), claims);
}

std::optional<double> chance_of(const PlanTask& task, const std::vector<double>& finishes,
                                double until_s) {
  if (task.deadline_s == kNoDeadline) return std::nullopt;
  const double last_s = task.deadline_s + kDeadlineTolerance_s;
  if (last_s > until_s && !std::all_of(finishes.begin(), finishes.end(),
                                       [](double finish_s) { return std::isfinite(finish_s); }))
    return std::nullopt;
  const auto in_time = std::count_if(finishes.begin(), finishes.end(),
                                     [&](double finish_s) { return finish_s <= last_s; });
  return static_cast<double>(in_time) / static_cast<double>(finishes.size());
}

// Of the i-th of so many futures: as many on both sides of the middle one, mirror images.
int number_of(int i, int futures) {
  return (2 * i + 1) * kScenarios / (2 * futures);
}

}  // namespace

double horizon_for(const PlanState& state, double now_s, std::size_t expected, double window_s) {
  constexpr double kRuns = 3;
  constexpr double kLongestRun_s = 30 * 86400.0;
  constexpr double kMostArrivals = 20'000;
  double longest_s = 0;
  const auto take = [&](const Choice& choice, double lasts_s) {
    if (choice.error < kUnknownError) longest_s = std::max(longest_s, lasts_s);
  };
  for (const TaskIndex task : state.running())
    take(state.running_choice(task), state.predicted_end_s(task, now_s) - now_s);
  for (const TaskIndex task : state.waiting())
    if (const PlacementMenu& menu = *state.tasks()[task].menu; !menu.empty())
      take(menu.fastest(), menu.fastest().lat_s);
  longest_s = std::min(longest_s, kLongestRun_s);
  double horizon_s = kRuns * longest_s;
  if (expected > 0)
    horizon_s = std::min(horizon_s, window_s * kMostArrivals / static_cast<double>(expected));
  return std::max(kShortHorizon_s, horizon_s);
}

std::vector<TaskIndex> followers_in(const PlanState& state) {
  std::vector<TaskIndex> followers;
  for (TaskIndex task = 0; task < state.tasks().size(); ++task)
    if (!state.tasks()[task].after.empty() && state.progress(task).phase == TaskPhase::kFuture)
      followers.push_back(task);
  return followers;
}

Futures::Futures(const TaskTable& tasks, double now_s, RolloutOptions options, bool again)
    : tasks_(tasks), now_s_(now_s), options_(std::move(options)) {
  const std::size_t come = expected_in(0, now_s, options_).size();
  for (std::size_t i = 0; i < come; ++i)
    arrivals_.push_back(static_cast<TaskIndex>(tasks.size() + i));
  if (!again || come == 0) return;
  for (int i = 0; i < options_.futures; ++i)
    kept_.emplace(number_of(i, options_.futures), with_expected(number_of(i, options_.futures)));
}

TaskTable Futures::with_expected(int number) const {
  std::vector<PlanTask> all = tasks_.tasks();
  for (PlanTask& task : expected_in(number, now_s_, options_))
    all.push_back(std::move(task));
  return TaskTable(std::move(all));
}

// With exact predictions and no arrivals all futures are the same.
bool Futures::all_alike(const PlanState& state) const {
  return state.error().rms() == 0 && arrivals_.empty() && !any_claims_error(state);
}

std::vector<int> Futures::numbers(const PlanState& state) const {
  std::vector<int> numbers;
  const int played = all_alike(state) ? 1 : options_.futures;
  for (int i = 0; i < played; ++i)
    numbers.push_back(number_of(i, options_.futures));
  return numbers;
}

// Calls `visit` with every future, and the state with which it begins.
template <class Visit>
bool Futures::each(const PlanState& state, const Policy& policy, const Visit& visit) const {
  PlanState planned = state;
  std::vector<TaskIndex> arrivals = arrivals_;
  arrivals.insert(arrivals.end(), options_.followers.begin(), options_.followers.end());
  for (const TaskIndex task : state.waiting())
    if (state.progress(task).not_before_s > now_s_) {
      planned.withdraw(task);
      arrivals.push_back(task);
    }
  planned.set_next_wake(-1);
  const Plan now = plan(planned, now_s_, policy);
  planned.set_next_wake(now.next_wake_s.value_or(-1));
  for (const int number : numbers(state)) {
    Scenario scenario(now_s_, number, state.error().rms(), options_, arrivals);
    if (arrivals_.empty()) {
      visit(scenario, planned, now);
    } else if (const auto kept = kept_.find(number); kept != kept_.end()) {
      visit(scenario, planned.with(kept->second), now);
    } else {
      const TaskTable tasks = with_expected(number);
      visit(scenario, planned.with(tasks), now);
    }
    if (scenario.stopped()) return false;
  }
  return true;
}

std::vector<Forecast> Futures::play(const PlanState& state, const Policy& policy,
                                    const std::vector<TaskIndex>& asked) const {
  std::vector<std::vector<double>> starts(asked.size());
  std::vector<std::vector<double>> finishes(asked.size());
  std::map<TaskIndex, Reservation> reserved;
  const auto note = [&](Scenario& scenario, const PlanState& begins, const Plan& now) {
    for (const Reservation& kept : now.reservations)
      reserved.try_emplace(kept.task, kept);
    const std::vector<Times> times = scenario.play_for(begins, policy, now.next_wake_s, asked);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      starts[i].push_back(times[i].start_s);
      finishes[i].push_back(times[i].finish_s);
    }
  };
  if (!each(state, policy, note)) return {};
  std::vector<Forecast> forecasts;
  const double until_s = now_s_ + options_.horizon_s;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    forecasts.push_back({asked[i], quantiles_of(starts[i]), quantiles_of(finishes[i]),
                         chance_of(tasks_[asked[i]], finishes[i], until_s)});
    forecasts.back().until_s = until_s;
    if (const auto kept = reserved.find(asked[i]); kept != reserved.end())
      forecasts.back().reserved = kept->second;
  }
  return forecasts;
}

bool Futures::watch(const PlanState& state, const Policy& policy, const Look& look) const {
  return each(state, policy, [&](Scenario& scenario, const PlanState& begins, const Plan& now) {
    scenario.watch(begins, policy, now.next_wake_s, look);
  });
}

std::vector<Forecast> rollout(const PlanState& state, double now_s, const Policy& policy,
                              const std::vector<TaskIndex>& tasks, const RolloutOptions& options) {
  return Futures(state.tasks(), now_s, options, false).play(state, policy, tasks);
}

}  // namespace slackline::core

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

namespace slackline::core {
namespace {

struct Times {
  double start_s = kNever;
  double finish_s = kNever;
};

// One future.
class Scenario {
 public:
  Scenario(const PlanState& state, double now_s, int number, const RolloutOptions& options)
      : now_s_(now_s), number_(number), options_(options), rms_(state.error().rms()) {
    if (options.expected.empty()) return;
    std::vector<PlanTask> all = state.tasks().tasks();
    add_expected(all);
    tasks_ = TaskTable(std::move(all));
  }

  // By task asked about: its start and finish. `planned` is the state after the plan of now.
  std::vector<Times> play_for(const PlanState& planned, const Policy& policy,
                              std::optional<double> wake_s, const std::vector<TaskIndex>& asked) {
    PlanState future = options_.expected.empty() ? planned : planned.with(tasks_);
    future.set_next_wake(wake_s.value_or(-1));
    std::unordered_map<TaskIndex, Times> times;
    std::size_t open = asked.size();
    // A policy that does not preempt never stops a run: its finish is known when it starts.
    const auto start = [&](TaskIndex task, const Run& run, double needed_s) {
      const auto found = times.find(task);
      if (found == times.end()) return;
      found->second.start_s = std::min(found->second.start_s, run.started_s);
      if (policy.preempts()) return;
      found->second.finish_s = run.started_s + run.overhead_s + needed_s * run.left;
      --open;
    };
    for (const TaskIndex task : asked) {
      times[task] = {};
      const Run& run = planned.progress(task).run;
      if (planned.progress(task).phase == TaskPhase::kRunning)
        start(task, run, work_s(future, task, run));
    }
    PlayHooks hooks;
    hooks.work_s = [&](TaskIndex task, const Run& run) { return work_s(future, task, run); };
    hooks.on_event = [&](double at_s, RunEvent event, TaskIndex task, const Run& run) {
      if (event == RunEvent::kStart) start(task, run, future.progress(task).run.observed_work_s);
      const auto found = times.find(task);
      if (event != RunEvent::kFinish || !policy.preempts() || found == times.end()) return;
      found->second.finish_s = at_s;
      --open;
    };
    hooks.go_on = [&](double at_s) {
      stopped_ = is_asked(options_.stop);
      return !stopped_ && open > 0 && at_s - now_s_ < options_.horizon_s;
    };
    if (open > 0) play(future, policy, arrivals_, hooks, {wake_s, options_.resolution});
    std::vector<Times> result;
    for (const TaskIndex task : asked)
      result.push_back(times[task]);
    return result;
  }

  bool stopped() const { return stopped_; }

 private:
  void add_expected(std::vector<PlanTask>& all) {
    if (options_.expected.empty() || !(options_.window_s > 0)) return;
    double first_s = kNever;
    for (const PlanTask& task : options_.expected)
      first_s = std::min(first_s, task.submit_s);
    const double shift_s = options_.window_s * number_ / kScenarios;
    std::int64_t id = -1;
    const auto windows = static_cast<int>(std::ceil(options_.horizon_s / options_.window_s));
    for (int window = 0; window < windows; ++window)
      for (const PlanTask& like : options_.expected) {
        const double from_s = window * options_.window_s;
        PlanTask task = like;
        task.id = id--;
        task.submit_s =
            now_s_ + from_s + std::fmod(like.submit_s - first_s + shift_s, options_.window_s);
        task.deadline_s += task.submit_s - like.submit_s;
        arrivals_.push_back(static_cast<TaskIndex>(all.size()));
        all.push_back(std::move(task));
      }
  }

  // How long the whole task takes on this placement, in this future.
  double work_s(const PlanState& future, TaskIndex task, const Run& run) {
    const Choice& choice = future.choice(task, run.choice);
    const double predicted_s = choice.work_s;
    const double rms = choice.error > 0 ? choice.error : rms_;
    const double elapsed_s = now_s_ - run.started_s - run.overhead_s;
    if (const auto end_s = future.reported_end_s(task, run.observed_work_s)) {
      const double needed_s = *end_s - run.started_s - run.overhead_s;
      return (needed_s > elapsed_s ? needed_s : elapsed_s + kOverrun * predicted_s) / run.left;
    }
    if (rms == 0) {
      const bool overdue = elapsed_s >= predicted_s * run.left;
      return overdue ? elapsed_s / run.left + kOverrun * predicted_s : predicted_s;
    }
    double z = error_quantile(future, task, run);
    if (run.started_s < now_s_ && elapsed_s > 0) {
      const double gone = normal_cdf(std::log(elapsed_s / (predicted_s * run.left)) / rms);
      z = normal_quantile(std::min(gone + (1 - gone) * normal_cdf(z), kCertain));
    }
    return std::max(predicted_s * std::exp(rms * z), elapsed_s / run.left);
  }

  // Half of the variance is the task's own, half is shared by runs of the type in the placement: a
  // model that is wrong about one of them is wrong about all of them.
  double error_quantile(const PlanState& future, TaskIndex task, const Run& run) {
    const double own = stratum_quantile(future.tasks()[task].id, number_);
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

  bool stopped_ = false;
  double now_s_;
  int number_;
  const RolloutOptions& options_;
  double rms_;
  TaskTable tasks_;
  std::vector<TaskIndex> arrivals_;
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

}  // namespace

std::vector<Forecast> rollout(const PlanState& state, double now_s, const Policy& policy,
                              const std::vector<TaskIndex>& tasks, const RolloutOptions& options) {
  // The plan of now is the same in every future.
  PlanState planned = state;
  planned.set_next_wake(-1);
  const std::optional<double> wake_s = plan(planned, now_s, policy).next_wake_s;
  std::vector<std::vector<double>> starts(tasks.size());
  std::vector<std::vector<double>> finishes(tasks.size());
  // With exact predictions and no arrivals all futures are the same.
  const bool one_future =
      state.error().rms() == 0 && options.expected.empty() && !any_claims_error(state);
  for (int number = 0; number < (one_future ? 1 : kScenarios); ++number) {
    Scenario scenario(planned, now_s, number, options);
    const auto times = scenario.play_for(planned, policy, wake_s, tasks);
    if (scenario.stopped()) return {};
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      starts[i].push_back(times[i].start_s);
      finishes[i].push_back(times[i].finish_s);
    }
  }
  std::vector<Forecast> forecasts;
  for (std::size_t i = 0; i < tasks.size(); ++i)
    forecasts.push_back({tasks[i], quantiles_of(starts[i]), quantiles_of(finishes[i])});
  return forecasts;
}

}  // namespace slackline::core

#include "slackline/core/rollout.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "quantiles.h"
#include "slackline/base/text.h"

namespace slackline::core {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kOverrun = 0.1;  // as PlanState::predicted_end_s

// One future.
class Scenario {
 public:
  Scenario(const PlanState& state, double now_s, int number, const RolloutOptions& options)
      : now_s_(now_s), number_(number), options_(options), rms_(state.error().rms()) {
    std::vector<PlanTask> all = state.tasks().tasks();
    add_expected(all);
    tasks_ = TaskTable(std::move(all));
  }

  // By task asked about: its start and finish.
  std::vector<std::pair<double, double>> play_for(const PlanState& state, const Policy& policy,
                                                  const std::vector<TaskIndex>& asked) {
    PlanState future = state.with(tasks_);
    future.set_next_wake(-1);
    std::unordered_map<TaskIndex, std::pair<double, double>> times;
    std::size_t open = asked.size();
    for (const TaskIndex task : asked) {
      const bool runs = state.progress(task).phase == TaskPhase::kRunning;
      times[task] = {runs ? state.progress(task).run.started_s : kNever, kNever};
    }
    PlayHooks hooks;
    hooks.work_s = [&](TaskIndex task, const Run& run) { return work_s(future, task, run); };
    hooks.on_event = [&](double at_s, RunEvent event, TaskIndex task, const Run&) {
      const auto found = times.find(task);
      if (found == times.end()) return;
      auto& [start_s, finish_s] = found->second;
      if (event == RunEvent::kStart) start_s = std::min(start_s, at_s);
      if (event != RunEvent::kFinish) return;
      finish_s = at_s;
      --open;
    };
    hooks.go_on = [&](double at_s) { return open > 0 && at_s - now_s_ < options_.horizon_s; };
    play(future, policy, arrivals_, hooks, now_s_);
    std::vector<std::pair<double, double>> result;
    for (const TaskIndex task : asked)
      result.push_back(times[task]);
    return result;
  }

 private:
  void add_expected(std::vector<PlanTask>& all) {
    if (options_.expected.empty() || !(options_.window_s > 0)) return;
    double first_s = kNever;
    for (const PlanTask& task : options_.expected)
      first_s = std::min(first_s, task.submit_s);
    const double shift_s = options_.window_s * number_ / kScenarios;
    std::int64_t id = -1;
    for (double from_s = 0; from_s < options_.horizon_s; from_s += options_.window_s)
      for (const PlanTask& like : options_.expected) {
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
  double work_s(const PlanState& future, TaskIndex task, const Run& run) const {
    const double predicted_s = future.choice(task, run.choice).work_s;
    const double elapsed_s = now_s_ - run.started_s - run.overhead_s;
    double p = error_quantile(future, task, run);
    if (rms_ == 0) {
      const bool overdue = elapsed_s >= predicted_s * run.left;
      return overdue ? elapsed_s / run.left + kOverrun * predicted_s : predicted_s;
    }
    if (run.started_s < now_s_ && elapsed_s > 0) {
      const double gone = normal_cdf(std::log(elapsed_s / (predicted_s * run.left)) / rms_);
      p = std::min(gone + (1 - gone) * p, kCertain);
    }
    const double work_s = predicted_s * std::exp(rms_ * normal_quantile(p));
    return std::max(work_s, elapsed_s / run.left);
  }

  // Half of the variance is the task's own, half is shared by runs of the type in the placement: a
  // model that is wrong about one of them is wrong about all.
  double error_quantile(const PlanState& future, TaskIndex task, const Run& run) const {
    const Choice& choice = future.choice(task, run.choice);
    const std::uint64_t kind =
        fingerprint(format("{} {} {}", future.tasks()[task].type, choice.pool, choice.shape.str()));
    const double own = normal_quantile(stratum(future.tasks()[task].id, number_));
    const double shared = normal_quantile(stratum(static_cast<std::int64_t>(kind), number_));
    return normal_cdf((own + shared) / std::sqrt(2.0));
  }

  static constexpr double kCertain = 1 - 1e-9;

  double now_s_;
  int number_;
  const RolloutOptions& options_;
  double rms_;
  TaskTable tasks_;
  std::vector<TaskIndex> arrivals_;
};

}  // namespace

std::vector<Forecast> rollout(const PlanState& state, double now_s, const Policy& policy,
                              const std::vector<TaskIndex>& tasks, const RolloutOptions& options) {
  std::vector<std::vector<double>> starts(tasks.size());
  std::vector<std::vector<double>> finishes(tasks.size());
  for (int number = 0; number < kScenarios; ++number) {
    Scenario scenario(state, now_s, number, options);
    const auto times = scenario.play_for(state, policy, tasks);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      starts[i].push_back(times[i].first);
      finishes[i].push_back(times[i].second);
    }
  }
  std::vector<Forecast> forecasts;
  for (std::size_t i = 0; i < tasks.size(); ++i)
    forecasts.push_back({tasks[i], quantiles_of(starts[i]), quantiles_of(finishes[i])});
  return forecasts;
}

}  // namespace slackline::core

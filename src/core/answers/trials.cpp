#include "slackline/core/answers/trials.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace slackline::core {
namespace {

constexpr double kLeastDelay_s = 60;
constexpr double kFineGrain = 0.01;  // of the one future in which two plays are compared

RolloutOptions played(const PlanState& state, double now_s, const QueueTrialOptions& options,
                      int futures) {
  const Expected& expected = options.expected;
  RolloutOptions played;
  played.horizon_s = horizon_for(state, now_s, expected.tasks.size(), expected.window_s);
  played.expected = expected.tasks;
  played.window_s = expected.window_s;
  played.resolution = resolution_for(state.waiting().size());
  if (futures == kAsPredicted) played.resolution = std::min(played.resolution, kFineGrain);
  played.followers = followers_in(state);
  std::erase_if(played.followers, [&](TaskIndex task) {
    return std::find(options.aside.begin(), options.aside.end(), task) != options.aside.end();
  });
  played.stop = options.stop;
  played.futures = futures;
  return played;
}

// The medians are of few futures: their difference may be less than the run takes at least.
void last_at_least(double least_s, Forecast& forecast) {
  auto& finishes = forecast.finish_s.deciles;
  for (std::size_t i = finishes.size() / 2; i < finishes.size(); ++i)
    finishes[i] = std::max(finishes[i], forecast.start_s.p50() + least_s);
}

}  // namespace

Trials::Trials(const PlanState& state, const Policy& policy, double now_s,
               const QueueTrialOptions& options)
    : state_(state),
      policy_(policy),
      aside_(options.aside),
      stop_(options.stop),
      few_(state.tasks(), now_s, played(state, now_s, options, kFewFutures), true),
      predicted_(state.tasks(), now_s, played(state, now_s, options, kAsPredicted), true) {}

bool Trials::waits(TaskIndex task) const {
  return state_.progress(task).phase == TaskPhase::kWaiting && !state_.tasks()[task].menu->empty();
}

PlanState Trials::with(std::optional<TaskIndex> task) const {
  PlanState state = state_;
  for (const TaskIndex other : aside_)
    if (other != task && state.progress(other).phase == TaskPhase::kWaiting) state.withdraw(other);
  return state;
}

std::optional<Forecast> Trials::forecast(const PlanState& state, TaskIndex task) const {
  if (is_asked(stop_)) return std::nullopt;
  std::vector<Forecast> found = few_.play(state, policy_, {task});
  if (found.empty()) return std::nullopt;
  last_at_least(state.fastest_lat_s(task), found.front());
  return found.front();
}

std::vector<TaskIndex> Trials::present(TaskIndex most) const {
  const PlanState state = with(std::nullopt);
  std::vector<TaskIndex> tasks(state.waiting().begin(), state.waiting().end());
  tasks.insert(tasks.end(), state.running().begin(), state.running().end());
  std::erase_if(tasks, [&](TaskIndex task) { return task >= most; });
  return tasks;
}

std::optional<std::vector<Delay>> Trials::delays(TaskIndex task, TaskIndex most) const {
  if (is_asked(stop_)) return std::nullopt;
  const std::vector<TaskIndex> everybody = present(most);
  if (everybody.empty()) return std::vector<Delay>{};
  if (!undisturbed_) {
    auto found = predicted_.play(with(std::nullopt), policy_, everybody);
    if (found.empty()) return std::nullopt;
    undisturbed_ = std::move(found);
  }
  const std::vector<Forecast> disturbed = predicted_.play(with(task), policy_, everybody);
  if (disturbed.empty()) return std::nullopt;
  std::vector<Delay> delays;
  for (std::size_t i = 0; i < everybody.size(); ++i) {
    const double before_s = (*undisturbed_)[i].finish_s.p50();
    const double after_s = disturbed[i].finish_s.p50();
    if (!std::isfinite(before_s)) continue;
    const double grain_s = std::max(kLeastDelay_s, 2 * kFineGrain * (after_s - now_s()));
    if (std::isfinite(after_s) && after_s - before_s < grain_s) continue;
    const bool runs = state_.progress(everybody[i]).phase == TaskPhase::kRunning;
    delays.push_back({everybody[i], after_s - before_s, runs});
  }
  std::sort(delays.begin(), delays.end(), [](const Delay& a, const Delay& b) {
    return std::tuple(-a.by_s, a.task) < std::tuple(-b.by_s, b.task);
  });
  return delays;
}

}  // namespace slackline::core

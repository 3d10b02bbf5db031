#include "sim/forecast_log.h"

#include <algorithm>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"

namespace slackline::sim {
namespace {

std::string heads(std::string_view name) {
  std::string columns;
  for (int percent = 10; percent <= 90; percent += 10)
    columns += format(",{}_p{}", name, percent);
  return columns + format(",{}_s", name);
}

// The outcome, in the terms of forecasts.
double within_horizon(double time_s, const core::Forecast& forecast) {
  return time_s <= forecast.until_s ? time_s : kNever;
}

std::string cells(const core::Quantiles& quantiles, double true_s) {
  return format(",{:.3f},{:.3f}", fmt::join(quantiles.deciles, ","), true_s);
}

}  // namespace

ForecastLog::ForecastLog(const core::TaskTable& tasks, const core::Policy& policy,
                         const ForecastTimes& times)
    : tasks_(tasks),
      policy_(policy),
      times_(times),
      first_submit_s_(kNever),
      last_submit_s_(-kNever),
      next_s_(times.from_s) {
  for (const core::PlanTask& task : tasks.tasks()) {
    first_submit_s_ = std::min(first_submit_s_, task.submit_s);
    last_submit_s_ = std::max(last_submit_s_, task.submit_s);
  }
}

void ForecastLog::watch(const core::PlanState& state, double now_s) {
  if (now_s < next_s_ || now_s > std::min(times_.until_s, last_submit_s_)) return;
  next_s_ = now_s + times_.every_s;
  core::RolloutOptions options;
  options.window_s = std::min(options.window_s, now_s - first_submit_s_);
  for (const core::PlanTask& task : tasks_.tasks())
    if (task.submit_s <= now_s && task.submit_s > now_s - options.window_s)
      options.expected.push_back(task);
  std::vector<core::TaskIndex> asked(state.waiting().begin(), state.waiting().end());
  asked.insert(asked.end(), state.running().begin(), state.running().end());
  for (const core::Forecast& forecast : core::rollout(state, now_s, policy_, asked, options))
    rows_.push_back(
        {now_s, state.progress(forecast.task).phase == core::TaskPhase::kRunning, forecast});
}

std::string format_forecasts_csv(const core::TaskTable& tasks, const Outcome& outcome,
                                 const std::vector<ForecastRow>& rows) {
  std::vector<std::vector<double>> starts(tasks.size());  // ascending
  for (const EventRow& event : outcome.events)
    if (event.kind == core::RunEvent::kStart) starts[event.task].push_back(event.time_s);
  std::string out =
      "made_s,task,phase" + heads("start") + heads("finish") + ",deadline_s,chance\r\n";
  for (const ForecastRow& row : rows) {
    const core::TaskIndex task = row.forecast.task;
    // Tasks that the policy started in the call before the forecast already run.
    const auto next = std::upper_bound(starts[task].begin(), starts[task].end(), row.made_s);
    double start_s = next == starts[task].end() ? kNever : *next;
    if (row.runs) start_s = *std::prev(next);
    const double finish_s = outcome.tasks[task].finished ? outcome.tasks[task].finish_s : kNever;
    out += format("{:.3f},{},{}", row.made_s, tasks[task].id, row.runs ? "running" : "waiting") +
           cells(row.forecast.start_s, within_horizon(start_s, row.forecast)) +
           cells(row.forecast.finish_s, within_horizon(finish_s, row.forecast)) +
           format(",{:.3f},", tasks[task].deadline_s) +
           (row.forecast.chance ? format("{:.4f}", *row.forecast.chance) : "") + "\r\n";
  }
  return out;
}

}  // namespace slackline::sim

#include "control/query/forecast_scores.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace slackline::control {
namespace {

std::vector<double> error_bounds_s() {
  return {-86400, -21600, -7200, -3600, -1800, -600, -300, -60,   -10,
          10,     60,     300,   600,   1800,  3600, 7200, 21600, 86400};
}

CoverageView view_of_held(const std::deque<bool>& held) {
  return {static_cast<std::int64_t>(held.size()), std::count(held.begin(), held.end(), true)};
}

}  // namespace

void ForecastScores::score(const QueueSight& sight, const core::ForecastBook& book) {
  for (const core::RealEvent& event : runs_.observe(*sight.snapshot, sight.now_s)) {
    const auto at = first_.find(event.job);
    if (at == first_.end()) continue;
    const FirstForecast& first = at->second;
    const core::RealRun& run = *runs_.find(event.job);
    if (event.change == core::RealChange::kStarted && first.start_s && !run.began_unseen)
      compare(first.queue, "start", *first.start_s, *run.started_s);
    if (event.change == core::RealChange::kEnded && first.finish_s && run.succeeded)
      compare(first.queue, "finish", *first.finish_s, *run.ended_s);
    if (event.change == core::RealChange::kEnded || event.change == core::RealChange::kGone)
      first_.erase(at);
  }
  keep(sight, book);
}

void ForecastScores::keep(const QueueSight& sight, const core::ForecastBook& book) {
  for (core::TaskIndex index = 0; index < sight.queue.size(); ++index) {
    const core::QueueTask& task = sight.queue.task(index);
    const core::RealRun* run = runs_.find(task.uid);
    if (run == nullptr || run->ended_s) continue;
    const core::Forecast* forecast = book.find(name_of(task));
    if (forecast == nullptr) continue;
    FirstForecast& first = first_[task.uid];
    first.queue = queue_of(*task.intent, task.key.ns);
    if (!first.start_s && !task.plan) first.start_s = forecast->start_s;
    if (!first.finish_s && task.length_known()) first.finish_s = forecast->finish_s;
  }
}

void ForecastScores::compare(const std::string& queue, const char* of, const core::Quantiles& first,
                             double happened_s) {
  const std::string label = queues_.admit(queue);
  if (std::isfinite(first.p50()))
    metrics_
        .histogram("slackline_forecast_error_seconds", error_bounds_s(),
                   {{"queue", label}, {"of", of}})
        .observe(happened_s - first.p50());
  const bool held =
      happened_s >= first.p10() - kForgiven_s && happened_s <= first.p90() + kForgiven_s;
  metrics_
      .counter("slackline_forecast_intervals_total",
               {{"queue", label}, {"of", of}, {"held", held ? "true" : "false"}})
      .add();
  Held& latest = held_[of];
  latest.push_back(held);
  if (latest.size() > kScored) latest.pop_front();
  metrics_.gauge("slackline_forecast_covered_ratio", {{"of", of}})
      .set(view_of_held(latest).share());
}

Coverage ForecastScores::coverage() const {
  const auto of = [&](const char* what) {
    const auto at = held_.find(what);
    return at == held_.end() ? CoverageView{} : view_of_held(at->second);
  };
  return {of("start"), of("finish")};
}

}  // namespace slackline::control

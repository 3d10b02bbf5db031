#include "slackline/core/learning/match.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace slackline::core {
namespace {

double least_time_s(const MatchTask& task) {
  return *std::min_element(task.time_s.begin(), task.time_s.end());
}

// Over the GPUs on which it may run.
double mean_time_s(const MatchTask& task, std::span<const int> gpus) {
  double sum_s = 0;
  double count = 0;
  for (std::size_t type = 0; type < gpus.size(); ++type) {
    if (!std::isfinite(task.time_s[type])) continue;
    sum_s += gpus[type] * task.time_s[type];
    count += gpus[type];
  }
  return count > 0 ? sum_s / count : least_time_s(task);
}

double median_time_s(std::span<const MatchTask> tasks, std::span<const int> gpus) {
  std::vector<double> times_s;
  for (const MatchTask& task : tasks)
    times_s.push_back(mean_time_s(task, gpus));
  const auto middle = times_s.begin() + static_cast<std::ptrdiff_t>(times_s.size() / 2);
  std::nth_element(times_s.begin(), middle, times_s.end());
  return *middle;
}

void center(std::vector<double>& logs) {
  const double mean =
      std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(logs.size());
  for (double& log : logs)
    log -= mean;
}

}  // namespace

std::optional<MatchPick> fastest_free(std::span<const MatchTask> waiting,
                                      std::span<const int> free) {
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    std::optional<MatchPick> best;
    for (std::size_t type = 0; type < free.size(); ++type)
      if (free[type] > 0 && std::isfinite(waiting[i].time_s[type]) &&
          (!best || waiting[i].time_s[type] < waiting[i].time_s[best->type]))
        best = MatchPick{i, type};
    if (best) return best;
  }
  return std::nullopt;
}

std::optional<MatchPick> match(std::span<const MatchTask> waiting, std::span<const int> gpus,
                               std::span<const int> free, double patience) {
  const auto window = waiting.first(std::min(kMatchWindow, waiting.size()));
  const auto measured = std::count_if(window.begin(), window.end(),
                                      [](const MatchTask& task) { return task.measured; });
  if (window.empty() || 2 * measured < static_cast<std::ptrdiff_t>(window.size()))
    return fastest_free(waiting, free);
  const double tau_s = patience * median_time_s(waiting, gpus);
  std::optional<MatchPick> best;
  double least = 0;
  for (std::size_t i = 0; i < window.size(); ++i)
    for (std::size_t type = 0; type < free.size(); ++type) {
      const double time_s = window[i].time_s[type];
      if (free[type] <= 0 || !std::isfinite(time_s)) continue;
      const double value = time_s / mean_time_s(window[i], gpus) - window[i].waited_s / tau_s;
      if (best && value >= least) continue;
      best = MatchPick{i, type};
      least = value;
    }
  return best ? best : fastest_free(waiting, free);
}

void RelativeSpeeds::observe(const Kind& kind, std::size_t type, double speed) {
  Logs& logs = known_.try_emplace(kind, types_).first->second;
  logs[type] = std::log(speed);
}

// The mean over kinds that are known on all types, of the family where it has one; else all alike.
std::vector<double> RelativeSpeeds::usual(const std::string& family) const {
  std::vector<double> all(types_);
  std::vector<double> family_only(types_);
  double count = 0;
  double of_family = 0;
  for (const auto& [kind, logs] : known_) {
    if (!std::all_of(logs.begin(), logs.end(), [](const auto& log) { return log.has_value(); }))
      continue;
    std::vector<double> centered;
    for (const auto& log : logs)
      centered.push_back(*log);
    center(centered);
    const bool same = kind.first == family;
    ++count;
    of_family += same ? 1 : 0;
    for (std::size_t type = 0; type < types_; ++type) {
      all[type] += centered[type];
      family_only[type] += same ? centered[type] : 0;
    }
  }
  std::vector<double>& mean = of_family > 0 ? family_only : all;
  for (double& log : mean)
    log /= std::max(1.0, of_family > 0 ? of_family : count);
  return mean;
}

RelativeSpeeds::Estimate RelativeSpeeds::of(const Kind& kind) const {
  const auto found = known_.find(kind);
  const std::size_t known_types = found == known_.end()
                                      ? 0
                                      : static_cast<std::size_t>(std::count_if(
                                            found->second.begin(), found->second.end(),
                                            [](const auto& log) { return log.has_value(); }));
  Estimate estimate;
  estimate.measured = known_types == types_;
  std::vector<double> logs = estimate.measured ? std::vector<double>(types_) : usual(kind.first);
  if (known_types > 0) {
    double shift = 0;  // of the usual speeds to those that are known
    for (std::size_t type = 0; type < types_; ++type)
      if (const auto& log = found->second[type])
        shift += (*log - logs[type]) / static_cast<double>(known_types);
    for (std::size_t type = 0; type < types_; ++type)
      logs[type] = found->second[type].value_or(logs[type] + shift);
  }
  center(logs);
  for (const double log : logs)
    estimate.speed.push_back(std::exp(log));
  return estimate;
}

}  // namespace slackline::core

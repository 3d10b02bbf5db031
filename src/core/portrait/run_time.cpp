#include "slackline/core/portrait/run_time.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "slackline/core/portrait/histogram.h"

namespace slackline::core {
namespace {

constexpr std::size_t kEnoughRuns = 3;
// More than the nine of ten that are promised: families change, and the past falls short.
constexpr double kCovered = 0.95;
const double kAssumedError = std::log(5.0);  // of ln(observed / predicted)

bool usable(const PastRun& run, const GpuType& gpu_type) {
  return run.outcome == RunOutcome::kSucceeded && run.gpu_type == gpu_type && run.gpus > 0 &&
         run.run_s > 0 && std::isfinite(run.run_s);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// d ln(run time) / d ln(GPUs) of the runs, by least squares: -1 of perfect scaling, 0 of none.
std::optional<double> measured_slope(std::span<const PastRun> past, const GpuType& gpu_type) {
  double count = 0;
  double x_mean = 0;
  double y_mean = 0;
  for (const PastRun& run : past) {
    if (!usable(run, gpu_type)) continue;
    ++count;
    x_mean += (std::log(run.gpus) - x_mean) / count;
    y_mean += (std::log(run.run_s) - y_mean) / count;
  }
  double xx = 0;
  double xy = 0;
  for (const PastRun& run : past) {
    if (!usable(run, gpu_type)) continue;
    const double x = std::log(run.gpus) - x_mean;
    xx += x * x;
    xy += x * (std::log(run.run_s) - y_mean);
  }
  constexpr double kOneNumber = 1e-9;  // all runs had as many GPUs
  if (xx < kOneNumber) return std::nullopt;
  return std::clamp(xy / xx, -1.0, 0.0);
}

// What 19 of 20 errors stay below.
double width_of(std::vector<double> errors, bool& earned) {
  std::sort(errors.begin(), errors.end());
  const auto rank =
      static_cast<std::size_t>(std::ceil(kCovered * static_cast<double>(errors.size() + 1)));
  earned = rank <= errors.size();
  if (earned) return errors[rank - 1];
  return errors.empty() ? kAssumedError : std::max(kAssumedError, errors.back());
}

// Logarithms of run times on the GPUs asked for, in the order of the runs; empty: no run says
// anything.
struct PastTimes {
  std::vector<double> logs;
  bool scaled = false;  // with runs on other numbers of GPUs
};

PastTimes times_on(std::span<const PastRun> past, const GpuType& gpu_type, int gpus,
                   const RunTimeRatio& by_model) {
  const std::optional<double> slope = measured_slope(past, gpu_type);
  PastTimes same;
  PastTimes all{.logs = {}, .scaled = true};
  for (const PastRun& run : past) {
    if (!usable(run, gpu_type)) continue;
    const double log = std::log(run.run_s);
    if (run.gpus == gpus) {
      same.logs.push_back(log);
      all.logs.push_back(log);
      continue;
    }
    const std::optional<double> ratio = by_model ? by_model(run.gpus) : std::nullopt;
    if (ratio && *ratio > 0 && std::isfinite(*ratio))
      all.logs.push_back(log + std::log(*ratio));
    else if (slope && gpus > 0)
      all.logs.push_back(log + *slope * std::log(static_cast<double>(gpus) / run.gpus));
  }
  const bool enough = same.logs.size() >= kEnoughRuns || all.logs.size() == same.logs.size();
  return enough ? same : all;
}

// Each run predicted by the median of those before it.
double width_by_memory(const std::vector<double>& logs, bool& earned) {
  std::vector<double> before;
  std::vector<double> errors;
  for (const double log : logs) {
    if (!before.empty()) errors.push_back(std::abs(log - median(before)));
    before.push_back(log);
  }
  return width_of(std::move(errors), earned);
}

// What the record of predictions has earned; nullopt: it is too short.
std::optional<double> width_by_record(const Portrait& portrait) {
  const double count = weight_at(portrait.time_errors, portrait.last_s);
  const double share = kCovered * (count + 1) / std::max(count, 1.0);
  if (share > 1) return std::nullopt;
  return percentile(portrait.time_errors, scale_of_errors(), share);
}

std::optional<RunTimeFromHistory> estimate(const PastTimes& times, std::optional<double> width) {
  if (times.logs.empty()) return std::nullopt;
  RunTimeFromHistory found;
  found.runs = static_cast<int>(times.logs.size());
  found.scaled = times.scaled;
  found.earned = width.has_value();
  if (!width) width = width_by_memory(times.logs, found.earned);
  const double middle = median(times.logs);
  found.median_s = std::exp(middle);
  found.low_s = std::exp(middle - *width);
  found.high_s = std::exp(middle + *width);
  return found;
}

}  // namespace

std::optional<RunTimeFromHistory> run_time_from(std::span<const PastRun> past,
                                                const GpuType& gpu_type, int gpus,
                                                const RunTimeRatio& by_model) {
  return estimate(times_on(past, gpu_type, gpus, by_model), std::nullopt);
}

std::optional<RunTimeFromHistory> run_time_of(const Portrait& portrait, const GpuType& gpu_type,
                                              int gpus, const RunTimeRatio& by_model) {
  return estimate(times_on(portrait.past, gpu_type, gpus, by_model), width_by_record(portrait));
}

RunTimeFromHistory borrowed(RunTimeFromHistory time) {
  const double factor = std::exp(kAssumedError);
  time.low_s = std::min(time.low_s, time.median_s / factor);
  time.high_s = std::max(time.high_s, time.median_s * factor);
  time.earned = false;
  return time;
}

std::optional<double> error_of_past(std::span<const PastRun> past, const PastRun& run) {
  if (!usable(run, run.gpu_type)) return std::nullopt;
  std::vector<PastRun> before;
  for (const PastRun& other : past)
    if (other.finished_s <= run.finished_s - run.run_s) before.push_back(other);
  PastTimes times = times_on(before, run.gpu_type, run.gpus, {});
  if (times.logs.empty()) times = times_on(past, run.gpu_type, run.gpus, {});
  if (times.logs.empty()) return std::nullopt;
  return std::abs(std::log(run.run_s) - median(times.logs));
}

}  // namespace slackline::core

#include "slackline/core/portrait/run_time.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace slackline::core {
namespace {

constexpr std::size_t kEnoughRuns = 3;
constexpr double kCovered = 0.9;
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

// What nine of ten errors, and the next one, stay below.
double width_of(std::vector<double> errors, bool& earned) {
  std::sort(errors.begin(), errors.end());
  const auto rank =
      static_cast<std::size_t>(std::ceil(kCovered * static_cast<double>(errors.size() + 1)));
  earned = rank <= errors.size();
  if (earned) return errors[rank - 1];
  return errors.empty() ? kAssumedError : std::max(kAssumedError, errors.back());
}

RunTimeFromHistory estimate(const std::vector<double>& logs, bool scaled) {
  RunTimeFromHistory found;
  found.runs = static_cast<int>(logs.size());
  found.scaled = scaled;
  std::vector<double> before;
  std::vector<double> errors;
  for (const double log : logs) {
    if (!before.empty()) errors.push_back(std::abs(log - median(before)));
    before.push_back(log);
  }
  const double middle = median(logs);
  const double width = width_of(std::move(errors), found.earned);
  found.median_s = std::exp(middle);
  found.low_s = std::exp(middle - width);
  found.high_s = std::exp(middle + width);
  return found;
}

}  // namespace

std::optional<RunTimeFromHistory> run_time_from(std::span<const PastRun> past,
                                                const GpuType& gpu_type, int gpus,
                                                const RunTimeRatio& by_model) {
  const std::optional<double> slope = measured_slope(past, gpu_type);
  std::vector<double> same;
  std::vector<double> all;
  for (const PastRun& run : past) {
    if (!usable(run, gpu_type)) continue;
    const double log = std::log(run.run_s);
    if (run.gpus == gpus) {
      same.push_back(log);
      all.push_back(log);
      continue;
    }
    const std::optional<double> ratio = by_model ? by_model(run.gpus) : std::nullopt;
    if (ratio && *ratio > 0 && std::isfinite(*ratio))
      all.push_back(log + std::log(*ratio));
    else if (slope && gpus > 0)
      all.push_back(log + *slope * std::log(static_cast<double>(gpus) / run.gpus));
  }
  if (same.size() >= kEnoughRuns || (all.size() == same.size() && !same.empty()))
    return estimate(same, false);
  if (all.empty()) return std::nullopt;
  return estimate(all, true);
}

}  // namespace slackline::core

#include "telemetry/usage_timeline.h"

#include <algorithm>
#include <cmath>

namespace slackline::telemetry {
namespace {

constexpr double kRounding_s = 0.01;  // times have milliseconds on their way

}  // namespace

std::optional<std::size_t> Steps::at(double time_s) const {
  if (count == 0) return std::nullopt;
  const double place = std::ceil((time_s - kRounding_s - end_s(0)) / step_s);
  if (!(place >= 0 && place < static_cast<double>(count))) return std::nullopt;
  return static_cast<std::size_t>(place);
}

Steps make_steps(const Window& window, int step_s) {
  Steps steps{.window = window, .step_s = std::max(step_s, 1), .count = 0};
  const double shortest_s = window.length_s() / static_cast<double>(kMostSteps);
  if (shortest_s > steps.step_s) steps.step_s = static_cast<int>(std::ceil(shortest_s));
  steps.count = static_cast<std::size_t>(std::ceil(window.length_s() / steps.step_s));
  return steps;
}

void Timeline::take_max(std::size_t step, double value) {
  if (!dropped_[step]) values_[step] = std::max(values_[step].value_or(value), value);
}

void Timeline::drop(std::size_t step) {
  dropped_[step] = true;
  values_[step].reset();
}

void Timeline::add(const Timeline& other) {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (other.dropped_[i]) drop(i);
    if (other.values_[i] && !dropped_[i]) values_[i] = values_[i].value_or(0) + *other.values_[i];
  }
}

std::size_t Timeline::in_common(const Timeline& other) const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < values_.size(); ++i)
    if (values_[i] && other.values_[i]) ++count;
  return count;
}

std::optional<Usage> Timeline::usage(const Steps& steps, const Window& within) const {
  Usage usage;
  double sum = 0;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (!values_[i]) continue;
    const double part_s = overlap(steps.step(i), within).length_s();
    if (part_s <= 0) continue;
    usage.max = usage.seconds > 0 ? std::max(usage.max, *values_[i]) : *values_[i];
    usage.seconds += part_s;
    sum += *values_[i] * part_s;
  }
  if (usage.seconds <= 0) return std::nullopt;
  usage.mean = sum / usage.seconds;
  return usage;
}

std::optional<Usage> combine(const std::optional<Usage>& mean, const std::optional<Usage>& max) {
  if (!mean || !max) return mean;
  return Usage{mean->mean, std::max(mean->max, max->max), mean->seconds};
}

std::optional<Usage> mean_of(const std::vector<Usage>& measured, double expected_s,
                             double window_s) {
  if (measured.empty()) return std::nullopt;
  Usage all;
  double weight = 0;
  for (const Usage& one : measured) {
    all.max = std::max(all.max, one.max);
    all.mean += one.mean * one.seconds;
    weight += one.seconds;
  }
  all.mean /= weight;
  all.seconds = window_s * weight / std::max(expected_s, weight);
  return all;
}

}  // namespace slackline::telemetry

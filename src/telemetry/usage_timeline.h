// Steps: a window of time as steps of one length that end with it. Timeline: a value for each step
// in which something was measured.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "slackline/model/usage.h"
#include "telemetry/window.h"
#include "wire/telemetry/prometheus_codec.h"

namespace slackline::telemetry {

// Step i is (end(i) - step_s, end(i)], and its value stands at its end. The first may begin before
// the window.
struct Steps {
  Window window;
  int step_s = 60;
  std::size_t count = 0;

  double end_s(std::size_t i) const {
    return window.to_s - static_cast<double>((count - 1 - i)) * step_s;
  }
  Window step(std::size_t i) const { return {end_s(i) - step_s, end_s(i)}; }
  // That holds this time: some servers move the times of an answer. nullopt: none does.
  std::optional<std::size_t> at(double time_s) const;
};

// At least `step_s` long, and so long that there are at most kMostSteps: a Prometheus answers
// 11,000 points a series at most.
inline constexpr std::size_t kMostSteps = 1'000;
Steps make_steps(const Window& window, int step_s);

class Timeline {
 public:
  explicit Timeline(std::size_t steps) : values_(steps), dropped_(steps) {}

  // The greater counts where there is a value already: the same thing was scraped twice.
  void take_max(std::size_t step, double value);
  // Nothing that is told of this step, before or after, counts.
  void drop(std::size_t step);
  // Of the steps that both or one have, and neither has dropped.
  void add(const Timeline& other);
  // Steps that both have.
  std::size_t in_common(const Timeline& other) const;

  // Of what lies in `within`: mean and maximum over its steps, by the time they have in it.
  // nullopt: nothing was measured there.
  std::optional<Usage> usage(const Steps& steps, const Window& within) const;

 private:
  std::vector<std::optional<double>> values_;
  std::vector<bool> dropped_;
};

// The mean of `mean`, the maximum of `max`, one of which may be missing.
std::optional<Usage> combine(const std::optional<Usage>& mean, const std::optional<Usage>& max);

// The parts that were measured, as one: the mean of their means, the greatest maximum, and of
// `window_s` the share of the time of all parts, `expected_s`, that was measured. nullopt: nothing.
std::optional<Usage> mean_of(const std::vector<Usage>& measured, double expected_s,
                             double window_s);

}  // namespace slackline::telemetry

// Steps: a window of time as steps of one length that end with it. Timeline: a value for each step
// in which something was measured.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "slackline/model/usage.h"
#include "wire/telemetry/prometheus_codec.h"

namespace slackline::telemetry {

struct Window {
  double from_s = 0;  // epoch seconds
  double to_s = 0;

  double length_s() const { return to_s > from_s ? to_s - from_s : 0; }
};

// What both have; from = to if that is nothing.
Window overlap(const Window& a, const Window& b);

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
  // Whose end this is; nullopt: nobody's.
  std::optional<std::size_t> at(double time_s) const;
};

// At least `step_s` long, and so long that there are at most kMostSteps: a Prometheus answers
// 11,000 points a series at most.
inline constexpr std::size_t kMostSteps = 1'000;
Steps make_steps(const Window& window, int step_s);

class Timeline {
 public:
  explicit Timeline(std::size_t steps) : values_(steps) {}

  // The greater counts where there is a value already: the same thing was scraped twice.
  void take_max(const wire::Series& series, const Steps& steps);
  // Of the steps that both or one have.
  void add(const Timeline& other);
  // Steps that both have.
  std::size_t in_common(const Timeline& other) const;

  // Of what lies in `within`: mean and maximum over its steps, by the time they have in it.
  // nullopt: nothing was measured there.
  std::optional<Usage> usage(const Steps& steps, const Window& within) const;

 private:
  std::vector<std::optional<double>> values_;
};

// The mean of `mean`, the maximum of `max`, one of which may be missing.
std::optional<Usage> combine(const std::optional<Usage>& mean, const std::optional<Usage>& max);

// Of `count` equal parts, some of which were measured: the mean of their means, the greatest
// maximum, and seconds as a share of all. nullopt: no part was measured.
std::optional<Usage> mean_of(const std::vector<Usage>& measured, std::size_t count);

}  // namespace slackline::telemetry

// Run times as the presets draw them; private to src/sim/presets.
#pragma once

#include <algorithm>
#include <cmath>

#include "slackline/base/random.h"

namespace slackline::sim {

// Log-normal, sigma 1, mean 1 h; 300 s to 48 h.
inline double draw_work_s(Random& random) {
  constexpr double kMean_s = 3600;
  constexpr double kLeast_s = 300;
  constexpr double kMost_s = 48 * 3600.0;
  return std::clamp(std::exp(std::log(kMean_s) - 0.5 + random.normal()), kLeast_s, kMost_s);
}

}  // namespace slackline::sim

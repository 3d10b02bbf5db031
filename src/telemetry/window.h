// Window: a part of time.
#pragma once

#include <algorithm>

namespace slackline::telemetry {

struct Window {
  double from_s = 0;  // epoch seconds
  double to_s = 0;

  double length_s() const { return to_s > from_s ? to_s - from_s : 0; }
};

// What both have; from = to if that is nothing.
inline Window overlap(const Window& a, const Window& b) {
  const double from_s = std::max(a.from_s, b.from_s);
  return {from_s, std::max(from_s, std::min(a.to_s, b.to_s))};
}

}  // namespace slackline::telemetry

// The marks of an axis of hours.
#pragma once

#include <vector>

namespace slackline::sim {

// 0, s, 2s ... up to `last`, with s the least of 1, 2, 5, 10, 20 ... (or below 1: 0.1, 0.2, 0.5)
// that makes at most twelve steps; last > 0.
std::vector<double> axis_marks(double last);

}  // namespace slackline::sim

#include "sim/time_axis.h"

namespace slackline::sim {

std::vector<double> axis_marks(double last) {
  constexpr double kMostSteps = 12;
  double step = 0.1;
  for (int i = 0; step * kMostSteps < last; ++i)
    step *= i % 3 == 1 ? 2.5 : 2;  // 0.1, 0.2, 0.5, 1 ...
  std::vector<double> marks;
  for (int i = 0; step * i <= last; ++i)
    marks.push_back(step * i);
  return marks;
}

}  // namespace slackline::sim

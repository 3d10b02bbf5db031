// ln r(a|b) = mean + how much a suffers + how much b takes; private to src/core/sharing.
#pragma once

#include <vector>

#include "pair_kinds.h"

namespace slackline::core {

struct LogAdditive {
  double mean = 0;
  std::vector<double> suffers;  // u of each task
  std::vector<double> takes;    // w of each task

  double at(int a, int b) const {
    return mean + suffers[static_cast<std::size_t>(a)] + takes[static_cast<std::size_t>(b)];
  }
};

// By 30 alternating sweeps; half a pseudo-observation of 0 keeps tasks with few cells near the
// mean.
LogAdditive fit_log_additive_terms(const PairCells& known);

}  // namespace slackline::core

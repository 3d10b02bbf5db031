// Errors of predictions in percent, and their summary.
#pragma once

#include <vector>

#include "slackline/core/throughput/fit.h"

namespace slackline::core {

// |predicted - measured| / measured, percent; a missing prediction (0) counts as 100 % error.
double absolute_percentage_error(double predicted, double measured);

// Mean, median and 90th percentile (linear between ranks); all 0 without errors.
HeldOutError summary_of(std::vector<double> errors);

}  // namespace slackline::core

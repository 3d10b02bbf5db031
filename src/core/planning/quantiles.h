// Normal quantiles for scenarios, without randomness.
#pragma once

#include <vector>

#include "slackline/core/planning/rollout.h"

namespace slackline::core {

double normal_cdf(double z);
// The inverse, 1e-12 < p < 1 - 1e-9, to 1e-8: bisection until Newton's method converges.
double normal_quantile(double p);

// The draw of scenario k for the task with this id: the normal quantile of (its rank + 1/2) /
// kScenarios. Over all k every rank once; that of kScenarios - 1 - k is its mirror image.
double stratum_quantile(std::int64_t id, int scenario);

// The deciles of the values, between order statistics where needed.
Quantiles quantiles_of(std::vector<double> values);

}  // namespace slackline::core

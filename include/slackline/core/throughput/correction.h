// Corrections of a model's coefficients by finished runs, by nodes and GPUs. A placement that ran
// once is predicted with the ratio observed / predicted, shrunk while runs are few.
#pragma once

#include <vector>

#include "slackline/model/placement.h"
#include "slackline/model/workload.h"

namespace slackline::core {

// ratio^(runs / (runs + 1)), within 0.5 .. 2; 1 without runs.
double shrunk_ratio(const Correction& correction);

// For this many nodes and GPUs; unknown without a run.
struct AppliedCorrection {
  double ratio = 1;
  bool known = false;
};
AppliedCorrection correction_for(const std::vector<Correction>& corrections, Spread spread);

// One more run; a ratio that is not positive and finite changes nothing. `corrections` are and stay
// sorted by (nodes, gpus).
void learn_correction(std::vector<Correction>& corrections, Spread spread,
                      double observed_over_predicted);

}  // namespace slackline::core

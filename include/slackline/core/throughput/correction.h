// Corrections of a model's coefficients by finished runs, by nodes and GPUs. A placement that ran
// once is predicted with the ratio observed / predicted, shrunk while runs are few.
//
// Whoever runs Jobs teaches. So each namespace is learnt from by itself, and what counts for all is
// what the namespace in the middle says: one of them alone moves nothing that others agree on.
#pragma once

#include <span>
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

// What counts of the corrections that namespaces learnt, each sorted by (nodes, gpus): for each of
// these, the median by shrunk_ratio. An even number is counted with one more, the coefficients' own
// 1: of two in the middle the nearer to 1 counts, or neither if one is above and one below.
std::vector<Correction> middle_corrections(std::span<const std::vector<Correction>> of_namespaces);

}  // namespace slackline::core

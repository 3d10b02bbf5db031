// How well each kind of prediction knows pairs that it has not seen.
#pragma once

#include <string>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/pair_measurements.h"

namespace slackline::sim {

struct PairFitOptions {
  double known = 0.2;  // share of the pairs that run, both directions of each
  int draws = 5;       // of the known pairs, with seeds 0, 1, ...
};

struct PairFitRow {
  std::string name;  // of core::pair_kind_names()
  double known = 0;
  // Percent, over the cells r(A|B) that were held out, then over the draws. NaN: too few cells were
  // known in a draw for this kind, so another one would have answered.
  double mean_ape = 0;
};

// The error: so few pairs run that nothing can be known or held out.
Result<std::vector<PairFitRow>> fit_pair_kinds(const PairMeasurements& measured,
                                               const PairFitOptions& options);

// {"predictors":[{"name":...,"known":...,"mean_ape":...}]}; NaN is null.
std::string format_pair_fit_json(const std::vector<PairFitRow>& rows);
// NaN is "-", and the line below says how many cells the kind needs.
std::string format_pair_fit_table(const std::vector<PairFitRow>& rows);

}  // namespace slackline::sim

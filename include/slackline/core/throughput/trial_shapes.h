// Which shapes to measure of a training of which nothing, or little, is known: those whose
// measurement is expected to say most about its speed everywhere.
//
// Model: kind "A" (throughput.h), T = a + c b + sync, with relative errors: ln T of a measurement
// is normal around the model. Before any measurement ln(coefficient) is normal around the values
// that fits start from; what they share, the speed of the model as such, is as good as unknown. A
// measurement in a shape is then worth ln(1 + x' S x / s^2) / (2 ln 2) bits: x the share of each
// term in the iteration's time, S the covariance so far, s the error of a measurement (the expected
// information of a linear model, Lindley 1956; MacKay, "Information-based objective functions for
// active data selection", Neural Computation 4, 1992, eq 9).
#pragma once

#include <span>
#include <vector>

#include "slackline/model/placement.h"

namespace slackline::core {

struct TrialGain {
  Placement shape;
  double bits = 0;
};

struct TrialOptions {
  std::size_t most = 3;      // measurements, those that are there included: a fit needs three
  double least_bits = 0.25;  // one that says less is not worth its GPUs
};

// Of the candidates, those to measure, the one that says most first, each given those before it and
// the `measured` shapes; of equal ones the smallest. Same input, same output.
std::vector<TrialGain> choose_trials(std::span<const Placement> measured,
                                     std::span<const Placement> candidates,
                                     const TrialOptions& options = {});

}  // namespace slackline::core

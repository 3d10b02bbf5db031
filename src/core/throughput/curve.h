// A piecewise-linear curve over the logarithm of the batch, as pairs (log batch, value) in params;
// constant beyond its ends.
#pragma once

#include <span>
#include <vector>

#include "observations.h"

namespace slackline::core {

// Pairs: ascending log batches. No pairs: 0.
double curve_at(std::span<const double> pairs, double log_batch);

// An even number of params whose log batches ascend.
bool is_curve(std::span<const double> pairs);

// At most `most` log batches that cover those of one GPU: each of them where they are few, else
// evenly spaced. `unit` is the batch that counts as 1.
std::vector<double> knots_of(std::span<const Observation> observations, std::size_t most,
                             double unit);

}  // namespace slackline::core

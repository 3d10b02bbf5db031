// The terms that kinds A, P and P2 share (Pollux, OSDI'21): params begin with a, c, s1 .. s4.
//   computation = a + c b
//   sync        = 0 on one GPU; s1 + s2 (M - 2) on one node; s3 + s4 (M - 2) across nodes
// All >= 0, in seconds, b the batch of one GPU.
#pragma once

#include <span>
#include <vector>

#include "time_fit.h"

namespace slackline::core {

inline constexpr std::size_t kAdditiveParams = 6;

double computation_s(std::span<const double> params, double local_batch);
double sync_s(std::span<const double> params, Spread spread);

// Params of the right count, none negative, computation > 0.
bool takes_additive(std::span<const double> params, std::size_t count);

// With those sync terms fixed that the observations do not determine.
std::vector<TimeCoefficient> additive_coefficients(std::span<const Observation> observations);

// If only one of "in a node" and "across nodes" was observed, the other one counts the same: the
// least that crossing nodes can cost, the most that staying can.
std::vector<double> with_unseen_sync(std::vector<double> params,
                                     std::span<const Observation> observations);

}  // namespace slackline::core

// How fast a workload trains, and how long it runs (000 eq 4-8).
//
// A kind of model is one file in src/core/throughput and one line in its registry; everything else
// carries `Coefficients{kind, params}` without knowing the formula. Evaluated left to right in IEEE
// doubles, without fused multiply-add: the same numbers on every machine.
//
// Kinds: "S", the paper's formula in the "sum" reading of eq 8, and "S/mean", in its "mean"
// reading; params of both: k0, k1, k2 (eq 7), gamma, lambda (eq 8). "table", measured values: params
// batch, GPUs, samples/s for each pair, ascending; linear in between, no prediction outside, and the
// same for every spread of so many GPUs.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "slackline/model/placement.h"
#include "slackline/model/workload.h"

namespace slackline::core {

// Samples per second of a global batch on a shape. nullopt: the kind is unknown, the params are not
// what it takes (count, finite numbers), the shape has more GPUs than the batch has samples, or the
// model predicts no progress at all (<= 0 or not finite).
std::optional<double> predict_throughput(const Coefficients& coefficients, double batch,
                                         Spread spread);

// Seconds from start to finish (eq 4): batch x iterations / throughput + startup_s.
// nullopt where the throughput is, or where iterations or startup_s are negative or not finite.
std::optional<double> predict_lat_s(const Coefficients& coefficients, double batch,
                                    double iterations, Spread spread, double startup_s);

// The kinds that can be predicted, sorted.
std::vector<std::string_view> throughput_kinds();

// Whether a profile entry can be used at all: its kind is known and takes these params.
bool valid_coefficients(const Coefficients& coefficients);

}  // namespace slackline::core

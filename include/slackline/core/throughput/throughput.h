// How fast a workload trains, and how long it runs (000 eq 4-8).
//
// A kind of model is one file in src/core/throughput and one line in its registry;
// everything else carries `Coefficients{kind, params}` without knowing the formula. Evaluated left
// to right in IEEE doubles, without fused multiply-add: the same numbers on every machine.
//
// Kinds, from the simplest on; their params in the order that the file of each gives:
//   table   measured values, for traces: never fitted; linear: c x batch / GPUs (003), if asked for
//   L       the time on one GPU, interpolated over log batch and log time; no other layout
//   A       additive time: (a + c b) + sync; sync linear in M, with other terms across nodes
//   S       the paper's formula in the "sum" reading of eq 8; k0, k1, k2 (eq 7), gamma, lambda
//   S/mean  the same in the "mean" reading
//   P       A with computation and sync overlapping in part (Pollux, OSDI'21)
//   P2      P with GPUs that slow each other down in a node, and a factor for two nodes
//   H       as P2, the single-GPU time bent by interpolation, sync growing by doublings
//   W       any measurements of several GPUs, even of one batch per GPU (weak scaling): slowdowns
//           relative to what was measured, each held by a prior
//
// Bounds: all times, rates and sync terms are >= 0, and one GPU has no communication term. S keeps
// 0 <= Comm < M on every layout fitted to, gamma >= 0, 1 <= lambda <= 20. The throughput of one GPU
// is positive, and with S, A, P, P2, W never falls as the batch grows; L and H follow the measured
// GPU even where it falls.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/model/placement.h"
#include "slackline/model/workload.h"

namespace slackline::core {

// Samples per second of a global batch on a shape, where `model_parallel` GPUs share one copy of
// the model. nullopt: the kind is unknown, the params are not what it takes (count, finite
// numbers), the shape has more replicas than the batch has samples, or the model predicts no
// progress at all (<= 0 or not finite).
std::optional<double> predict_throughput(const Coefficients& coefficients, double batch,
                                         Spread spread, int model_parallel = 1);

// Seconds from start to finish (eq 4): batch x iterations / throughput + startup_s. nullopt where
// iterations or startup_s are negative, or the result is not finite.
std::optional<double> lat_s(double throughput_samples_per_s, double batch, double iterations,
                            double startup_s);

// The same for a predicted throughput; nullopt if that is.
std::optional<double> predict_lat_s(const Coefficients& coefficients, double batch,
                                    double iterations, Spread spread, double startup_s);

// The kinds that can be fitted, sorted: all but "table".
std::vector<std::string_view> fittable_kinds();

// Whether a profile entry can be used: its kind is known and takes these params.
bool valid_coefficients(const Coefficients& coefficients);

// Why it cannot, for people, with what is allowed; empty if it can.
std::string why_unusable(const Coefficients& coefficients);

}  // namespace slackline::core

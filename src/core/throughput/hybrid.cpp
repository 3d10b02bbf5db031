// Kind "H", the richest: the single-GPU time is a line bent by a curve over log batch, sync grows
// by doublings, and weak priors hold what few samples leave open.
//   computation = (a + c b) exp(curve(log b)) (1 + k (g - 1))
//   sync        = 0 on one GPU
//                 s1 (1 + r1 log2(M / 2)) on one node
//                 s2 (1 + r2 log2(N / 2) + r3 log2(M / N)) across nodes, times f on two
//   time        = (computation^p + sync^p)^(1/p)
// Params a, c, s1, r1, s2, r2, r3, p, k, f, then pairs (log batch, curve).
//
// The prior r1 = 1 makes a ring of one GPU cost nothing, so that measurements without a single GPU
// still tell computation from sync; r2 = 1/2 is what the links of a ring, 2 (N - 1) / N, lose from
// two nodes to four. The curve is drawn towards 0, where the time is the line of kinds A and P;
// with measurements it follows a GPU that gets slower per sample with a larger batch.
#include <algorithm>
#include <array>
#include <cmath>

#include "curve.h"
#include "kinds.h"
#include "time_fit.h"

namespace slackline::core {
namespace {

enum Param : std::size_t { kA, kC, kS1, kR1, kS2, kR2, kR3, kP, kContention, kTwoNodes, kCurve };

constexpr std::size_t kMostHybridKnots = 6;
constexpr double kMaxP = 10;

// A table: these logarithms would take a third of a prediction's time.
double log2_of(int count) {
  constexpr int kKnown = 256;
  static const auto kLog2 = [] {
    std::array<double, kKnown> table{};
    for (int i = 1; i < kKnown; ++i)
      table[static_cast<std::size_t>(i)] = std::log2(i);
    return table;
  }();
  return count < kKnown ? kLog2[static_cast<std::size_t>(count)] : std::log2(count);
}

double sync(std::span<const double> params, Spread spread) {
  if (spread.gpus < 2) return 0;
  const double gpus = log2_of(spread.gpus);
  if (spread.nodes == 1) return params[kS1] * (1 + params[kR1] * (gpus - 1));
  const double nodes = log2_of(spread.nodes);
  const double doublings = params[kR2] * (nodes - 1) + params[kR3] * (gpus - nodes);
  return params[kS2] * (1 + doublings) * (spread.nodes == 2 ? params[kTwoNodes] : 1);
}

double iteration_s(std::span<const double> params, double local_batch, Spread spread) {
  const double bend = std::exp(curve_at(params.subspan(kCurve), std::log(local_batch)));
  const double contention = 1 + params[kContention] * (spread.most_per_node - 1);
  const double computation = (params[kA] + params[kC] * local_batch) * bend * contention;
  return overlapped(computation, sync(params, spread), params[kP]);
}

bool takes(std::span<const double> params) {
  return params.size() >= kCurve && is_curve(params.subspan(kCurve)) &&
         std::all_of(params.begin(), params.begin() + kCurve, [](double p) { return p >= 0; }) &&
         params[kA] + params[kC] > 0 && params[kP] >= 1 && params[kP] <= kMaxP;
}

std::vector<TimeCoefficient> coefficients_of(std::span<const Observation> observations) {
  constexpr double kMost = 1e3;
  constexpr double kMostGrowth = 20;  // of sync with each doubling, in units of the sync of two
  std::vector<TimeCoefficient> all{{Dimension::kTime, 1e-9, kMost, 0.2},
                                   {Dimension::kTimePerSample, 1e-9, kMost, 0.7},
                                   {Dimension::kTime, 0, kMost, 0.05},
                                   {Dimension::kRatio, 0, kMostGrowth, 1, 1, 0.4},
                                   {Dimension::kTime, 0, kMost, 0.2},
                                   {Dimension::kRatio, 0, kMostGrowth, 0.5, 0.5, 0.4},
                                   {Dimension::kRatio, 0, kMostGrowth, 0.1, 0, 0.4},
                                   {Dimension::kRatio, 1, kMaxP, 2, 3, 1.5},
                                   {Dimension::kRatio, 0, 2, 0.05, 0.03, 0.05},
                                   {Dimension::kRatio, 0.1, 10, 1, 1, 0.4}};
  if (!seen_in_node(observations)) fix(all[kS1], 0);
  if (!seen_across_nodes(observations)) fix(all[kS2], 0);
  for (const double knot : knots_of(observations, kMostHybridKnots, batch_unit(observations))) {
    TimeCoefficient at{Dimension::kLogBatch};
    fix(at, knot);
    all.push_back(at);
    all.push_back({Dimension::kRatio, -3, 3, 0, 0, 0.2});
  }
  return all;
}

// As with_unseen_sync() of the additive terms: an unseen term counts as the seen one.
std::vector<double> fit(std::span<const Observation> observations, Effort effort) {
  const TimeModel model{coefficients_of(observations),
                        {{{kP, 1.2}}, {{kP, 4}}, {{kP, 1.5}, {kS2, 0.6}}, {{kP, 3}, {kS2, 0.6}}},
                        iteration_s};
  std::vector<double> params = fit_time(model, observations, effort);
  if (!seen_across_nodes(observations)) {
    params[kS2] = params[kS1];
    params[kR2] = params[kR3] = params[kR1];
  } else if (!seen_in_node(observations)) {
    params[kS1] = params[kS2];
    params[kR1] = params[kR2];
  }
  return params;
}

}  // namespace

const ThroughputKind kHybrid{"H", 6, takes,
                             [](std::span<const double> params, double batch, Spread spread) {
                               return batch / iteration_s(params, batch / spread.gpus, spread);
                             },
                             fit};

}  // namespace slackline::core

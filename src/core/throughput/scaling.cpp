// Kind "W", for measurements that determine little: no single GPU, few placements, or one batch per
// GPU throughout (weak scaling). Every slowdown is held by a prior, so that one measurement is
// enough for a guess, and each further one tells what it can.
//   time = t x ( (alpha + u) / (1 + alpha)                     computation; u = b / (largest b)
//               + s1 log2(g) in the fullest node               only told where one GPU was measured
//               + s2 2^(nu (log2 N - 1)) e^(ga log2(8 / g)) )  sync across N > 1 nodes
//            x exp(kappa [N > 1] + rho log2 N + q log2 g)      waits that grow with the computation
// Params log t, log alpha, s1, log s2, nu, ga, kappa, rho, q, log of the largest b.
//
// The throughput per GPU never falls as the batch grows. At a local batch that was not measured the
// answer rests on the prior of alpha (a batch of half the size costs 3 % per sample). ga: nodes
// with few GPUs often have another network. The priors were set on public MLPerf, llm-foundry and
// torchtitan figures by leaving placements out (docs/study/modern.md).
#include <algorithm>
#include <cmath>

#include "kinds.h"
#include "time_fit.h"

namespace slackline::core {
namespace {

enum ScalingParam : std::size_t {
  kLogT,
  kLogAlpha,
  kInNode,
  kLogAcross,
  kNu,
  kGamma,
  kKappa,
  kRho,
  kQ,
  kLogLargest,
  kScalingParams
};

constexpr double kUsualGpusPerNode = 8;
constexpr double kScalingOutlier = 0.04;

double scaling_iteration_s(std::span<const double> params, double local_batch, Spread spread) {
  const double alpha = std::exp(params[kLogAlpha]);
  const double batch = local_batch / std::exp(params[kLogLargest]);
  const double node = std::log2(spread.most_per_node);
  double time = (alpha + batch) / (1 + alpha) + params[kInNode] * node;
  double slowdown = params[kQ] * node;
  if (spread.nodes > 1) {
    const double nodes = std::log2(spread.nodes);
    const double narrow = std::log2(kUsualGpusPerNode / spread.most_per_node);
    time += std::exp(params[kLogAcross]) * std::exp2(params[kNu] * (nodes - 1)) *
            std::exp(params[kGamma] * narrow);
    slowdown += params[kKappa] + params[kRho] * nodes;
  }
  return std::exp(params[kLogT] + slowdown) * time;
}

// Seconds at the largest batch of one GPU in units of the median iteration, roughly.
double log_start(std::span<const Observation> observations) {
  const double largest = batch_unit(observations);
  std::vector<double> times;
  std::vector<double> at_largest;
  for (const Observation& seen : observations) {
    times.push_back(seen.iteration_s());
    at_largest.push_back(seen.iteration_s() * largest / seen.local_batch());
  }
  const auto median = [](std::vector<double>& values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
  };
  return std::log(median(at_largest) / median(times));
}

TimeModel scaling_model(std::span<const Observation> observations) {
  TimeModel model;
  model.outlier = kScalingOutlier;
  model.iteration_s = scaling_iteration_s;
  model.coefficients = {{Dimension::kLogTime, -30, 30, log_start(observations)},
                        {Dimension::kRatio, -12, 6, -3.5, -3.5, 1.5},
                        {Dimension::kRatio, 0, 10, 0.05, 0.03, 0.05},
                        {Dimension::kRatio, -12, 4, -3.5, -3.5, 2},
                        {Dimension::kRatio, -1, 2, 0.35, 0.35, 0.15},
                        {Dimension::kRatio, -2, 2, 0, 0, 0.5},
                        {Dimension::kRatio, -0.5, 0.5, 0, 0, 0.04},
                        {Dimension::kRatio, -0.2, 0.2, 0.005, 0.005, 0.012},
                        {Dimension::kRatio, -0.2, 0.2, 0, 0, 0.015},
                        {Dimension::kLogBatch}};
  fix(model.coefficients[kLogLargest], 0);
  const bool one_gpu = std::any_of(observations.begin(), observations.end(),
                                   [](const Observation& seen) { return seen.spread.gpus == 1; });
  if (!one_gpu) fix(model.coefficients[kInNode], 0);
  model.other_starts = {{{kLogAlpha, -1}}, {{kLogAcross, -1}}};
  return model;
}

bool takes_scaling(std::span<const double> params) {
  return params.size() == kScalingParams && params[kInNode] >= 0 &&
         std::all_of(params.begin(), params.end(), [](double p) { return std::abs(p) < 100; });
}

}  // namespace

const ThroughputKind kScaling{"W", 1, takes_scaling,
                              [](std::span<const double> params, double batch, Spread spread) {
                                return batch /
                                       scaling_iteration_s(params, batch / spread.gpus, spread);
                              },
                              [](std::span<const Observation> observations, Effort effort) {
                                return fit_time(scaling_model(observations), observations, effort);
                              }};

}  // namespace slackline::core

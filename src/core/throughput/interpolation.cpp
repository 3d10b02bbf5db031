// Kind "L": the time of an iteration on one GPU, interpolated linearly over the logarithms of batch
// and time; params: pairs (log batch, log seconds), the measurements themselves. Beyond its ends
// the time stays (smaller batches) or grows with the batch (larger ones). Several GPUs are
// predicted as that many single ones, without any sync: nothing was measured about it.
#include <algorithm>
#include <cmath>

#include "curve.h"
#include "kinds.h"

namespace slackline::core {
namespace {

constexpr std::size_t kMostTableKnots = 30;

double iteration_s(std::span<const double> params, double local_batch) {
  const double log_batch = std::log(local_batch);
  const double beyond = std::max(0.0, log_batch - params[params.size() - 2]);
  return std::exp(curve_at(params, log_batch) + beyond);
}

// At each knot the mean of the logarithms of the nearest measurements.
std::vector<double> fit(std::span<const Observation> observations, Effort /*closed form*/) {
  const std::vector<double> knots = knots_of(observations, kMostTableKnots, 1);
  std::vector<double> sums(knots.size());
  std::vector<double> weights(knots.size());
  for (const Observation& seen : observations) {
    const double log_batch = std::log(seen.local_batch());
    const auto nearest = std::min_element(knots.begin(), knots.end(), [&](double a, double b) {
      return std::abs(a - log_batch) < std::abs(b - log_batch);
    });
    const auto at = static_cast<std::size_t>(nearest - knots.begin());
    sums[at] += seen.weight * std::log(seen.iteration_s());
    weights[at] += seen.weight;
  }
  std::vector<double> params;
  for (std::size_t i = 0; i < knots.size(); ++i)
    if (weights[i] > 0) params.insert(params.end(), {knots[i], sums[i] / weights[i]});
  return params;
}

}  // namespace

const ThroughputKind kInterpolation{
    "L", 2, [](std::span<const double> params) { return !params.empty() && is_curve(params); },
    [](std::span<const double> params, double batch, Spread spread) {
      return batch / iteration_s(params, batch / spread.gpus);
    },
    fit};

}  // namespace slackline::core

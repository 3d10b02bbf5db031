#include "slackline/core/throughput/trial_shapes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <Eigen/Core>

#include "additive_terms.h"

namespace slackline::core {
namespace {

using Terms = Eigen::Matrix<double, static_cast<int>(kAdditiveParams), 1>;
using Covariance =
    Eigen::Matrix<double, static_cast<int>(kAdditiveParams), static_cast<int>(kAdditiveParams)>;

// Standard deviations of logarithms.
constexpr double kSharedError = 3;         // of the speed as such: within a factor of 400
constexpr double kTermError = 1;           // of each term besides: within a factor of 7
constexpr double kMeasurementError = 0.1;  // as held-out errors of fits are (docs/MODEL.md)

// The terms of an iteration by the values that fits start from, in iterations on one GPU; the batch
// of one GPU is the unit of batches.
std::vector<double> usual_terms() {
  std::vector<double> terms;
  const Observation alone{1, Placement{1, 1}, 1};
  const Observation in_node{2, Placement{1, 2}, 1};
  const Observation across{2, Placement{2, 1}, 1};
  const std::vector<Observation> all = {alone, in_node, across};
  for (const TimeCoefficient& term : additive_coefficients(all))
    terms.push_back(term.start);
  return terms;
}

// The share of each term in the time of an iteration.
Terms shares_of(const Placement& shape) {
  static const std::vector<double> kUsual = usual_terms();
  const Spread spread(shape);
  Terms shares;
  for (std::size_t i = 0; i < kAdditiveParams; ++i) {
    std::vector<double> alone(kAdditiveParams, 0);
    alone[i] = kUsual[i];
    shares[static_cast<Eigen::Index>(i)] =
        computation_s(alone, 1.0 / spread.gpus) + sync_s(alone, spread);
  }
  return shares / shares.sum();
}

class Beliefs {
 public:
  Beliefs() {
    covariance_ = Covariance::Constant(kSharedError * kSharedError) +
                  Covariance(Terms::Constant(kTermError * kTermError).asDiagonal());
  }

  double bits(const Terms& shares) const {
    const double variance = shares.dot(covariance_ * shares);
    return std::log2(1 + variance / (kMeasurementError * kMeasurementError)) / 2;
  }

  void measure(const Terms& shares) {
    const Terms gain = covariance_ * shares;
    const double all = shares.dot(gain) + kMeasurementError * kMeasurementError;
    covariance_ -= gain * gain.transpose() / all;
  }

 private:
  Covariance covariance_;
};

bool is_smaller(const Placement& a, const Placement& b) {
  return std::pair(a.gpus(), a) < std::pair(b.gpus(), b);
}

}  // namespace

std::vector<TrialGain> choose_trials(std::span<const Placement> measured,
                                     std::span<const Placement> candidates,
                                     const TrialOptions& options) {
  Beliefs beliefs;
  const std::set<Placement> known(measured.begin(), measured.end());
  for (const Placement& shape : known)
    beliefs.measure(shares_of(shape));
  std::vector<Placement> open;
  for (const Placement& shape : candidates)
    if (!known.contains(shape)) open.push_back(shape);
  std::sort(open.begin(), open.end(), is_smaller);
  open.erase(std::unique(open.begin(), open.end()), open.end());
  std::vector<TrialGain> chosen;
  while (known.size() + chosen.size() < options.most && !open.empty()) {
    constexpr double kSame = 1e-9;  // smaller ones come first
    std::size_t best = 0;
    for (std::size_t i = 1; i < open.size(); ++i)
      if (beliefs.bits(shares_of(open[i])) > beliefs.bits(shares_of(open[best])) + kSame) best = i;
    const TrialGain gain{open[best], beliefs.bits(shares_of(open[best]))};
    if (gain.bits < options.least_bits) break;
    beliefs.measure(shares_of(gain.shape));
    chosen.push_back(gain);
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(best));
  }
  return chosen;
}

}  // namespace slackline::core

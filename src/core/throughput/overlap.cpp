// Kind "P" (Pollux, OSDI'21): computation and sync overlap; params a, c, s1, s2, s3, s4 and the
// exponent p in 1 .. 10.
#include "additive_terms.h"
#include "kinds.h"

namespace slackline::core {
namespace {

constexpr std::size_t kP = kAdditiveParams;
constexpr double kMaxP = 10;

double iteration_s(std::span<const double> params, double local_batch, Spread spread) {
  return overlapped(computation_s(params, local_batch), sync_s(params, spread), params[kP]);
}

bool takes(std::span<const double> params) {
  return takes_additive(params, kP + 1) && params[kP] >= 1 && params[kP] <= kMaxP;
}

std::vector<double> fit(std::span<const Observation> observations) {
  TimeModel model{additive_coefficients(observations),
                  {{{kP, 1.2}}, {{kP, 4}}, {{kP, 1.5}, {4, 0.6}}, {{kP, 3}, {4, 0.6}}},
                  iteration_s};
  model.coefficients.push_back({Dimension::kRatio, 1, kMaxP, 2});
  return with_unseen_sync(fit_time(model, observations), observations);
}

}  // namespace

const ThroughputKind kOverlap{"P", 5, takes,
                              [](std::span<const double> params, double batch, Spread spread) {
                                return batch / iteration_s(params, batch / spread.gpus, spread);
                              },
                              fit};

}  // namespace slackline::core

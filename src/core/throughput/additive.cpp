// Kind "A": the time of an iteration is computation plus sync; params a, c, s1, s2, s3, s4.
#include "additive_terms.h"
#include "kinds.h"

namespace slackline::core {
namespace {

double iteration_s(std::span<const double> params, double local_batch, Spread spread) {
  return computation_s(params, local_batch) + sync_s(params, spread);
}

std::vector<double> fit(std::span<const Observation> observations) {
  const TimeModel model{additive_coefficients(observations), {{{4, 0.6}, {5, 0.1}}}, iteration_s};
  return with_unseen_sync(fit_time(model, observations), observations);
}

}  // namespace

const ThroughputKind kAdditive{
    "A", 3, [](std::span<const double> params) { return takes_additive(params, kAdditiveParams); },
    [](std::span<const double> params, double batch, Spread spread) {
      return batch / iteration_s(params, batch / spread.gpus, spread);
    },
    fit};

}  // namespace slackline::core

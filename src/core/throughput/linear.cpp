// Kind "linear": the time of an iteration is c x batch / GPUs (003), c by linear regression through
// the origin; params c. It knows no communication, so it is an alternative that is asked for, and
// never chosen by itself.
#include "kinds.h"

namespace slackline::core {
namespace {

bool takes_linear(std::span<const double> params) {
  return params.size() == 1 && params[0] > 0;
}

double linear_throughput(std::span<const double> params, double /*batch*/, Spread spread) {
  return spread.gpus / params[0];
}

std::vector<double> fit_linear(std::span<const Observation> observations, Effort /*effort*/) {
  double products = 0;
  double squares = 0;
  for (const Observation& seen : observations) {
    products += seen.weight * seen.local_batch() * seen.iteration_s();
    squares += seen.weight * seen.local_batch() * seen.local_batch();
  }
  return {products / squares};
}

}  // namespace

const ThroughputKind kLinear{"linear", 2, takes_linear, linear_throughput, fit_linear};

}  // namespace slackline::core

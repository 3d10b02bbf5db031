// Kind "S": throughput = (M - Comm) * sPR(batch / M), 000 eq 5-8.
#include <algorithm>

#include "kinds.h"

namespace slackline::core {
namespace {

struct Seed {
  double k0, k1, k2, gamma, lambda;
};

Seed seed_of(std::span<const double> params) {
  return {params[0], params[1], params[2], params[3], params[4]};
}

double comm_sum(const Seed& seed, Placement shape) {
  const double d_node = shape.d_node;
  const double d_gpn = shape.d_gpn;
  return seed.gamma * (seed.lambda * (d_node - 1) * d_gpn + (d_gpn - 1));
}

// Speed of one GPU on its share of the batch; a falling parabola stays at its vertex beyond it.
double single_gpu(const Seed& seed, double local_batch) {
  double b = local_batch;
  if (seed.k2 < 0) b = std::min(b, -seed.k1 / (2 * seed.k2));
  return seed.k0 + seed.k1 * b + seed.k2 * b * b;
}

double predict(const Seed& seed, double batch, double m, double comm) {
  return std::max(0.0, m - comm) * single_gpu(seed, batch / m);
}

}  // namespace

double predict_seed_sum(std::span<const double> params, double batch, Placement shape) {
  const Seed seed = seed_of(params);
  return predict(seed, batch, shape.gpus(), comm_sum(seed, shape));
}

// Comm as a mean path length: divided by M - 1, and by the scale that makes both readings agree
// at 4.
double predict_seed_mean(std::span<const double> params, double batch, Placement shape) {
  const Seed seed = seed_of(params);
  const double m = shape.gpus();
  const double comm = m > 1 ? 3 * comm_sum(seed, shape) / (m - 1) : 0.0;
  return predict(seed, batch, m, comm);
}

}  // namespace slackline::core

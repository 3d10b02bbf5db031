#include "slackline/core/planning/cost.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace slackline::core {

double placement_cost(const Pool& pool, Placement shape, double theta) {
  if (pool.nodes <= 0 || pool.gpus_per_node <= 0) return std::numeric_limits<double>::infinity();
  const double m = shape.gpus();
  const double n = pool.nodes;
  const double g = pool.gpus_per_node;
  return pool.weight * (m / (n * g) + theta * shape.d_node / n);
}

double cer(double throughput_samples_per_s, double cost) {
  if (!std::isfinite(cost) || cost <= 0) return 0.0;
  return throughput_samples_per_s / cost;
}

const Pool* find_pool(const std::vector<Pool>& pools, const GpuType& type,
                      std::string_view resource) {
  for (const Pool& pool : pools)
    if (pool.type == type && pool.resource == resource) return &pool;
  return nullptr;
}

}  // namespace slackline::core

#include "slackline/core/planning/shapes.h"

#include <bit>

namespace slackline::core {
namespace {

constexpr std::int64_t kLargePool = 16;  // GPUs

bool power_of_two(int value) {
  return std::has_single_bit(static_cast<unsigned>(value));
}

}  // namespace

std::vector<Placement> enumerate_placements(const Pool& pool, const ShapeOptions& options) {
  std::vector<Placement> shapes;
  const std::int64_t pool_gpus = std::int64_t{pool.nodes} * pool.gpus_per_node;
  const bool compact = options.compact && pool_gpus > kLargePool;
  for (int d_node = 1; d_node <= pool.nodes; ++d_node) {
    if (compact && !power_of_two(d_node)) continue;
    for (int d_gpn = 1; d_gpn <= pool.gpus_per_node; ++d_gpn) {
      const std::int64_t m = std::int64_t{d_node} * d_gpn;
      if (options.batch > 0 && m > options.batch) break;
      if (options.max_gpus > 0 && m > options.max_gpus) break;
      if (options.fixed_total > 0 && m != options.fixed_total) continue;
      if (options.divisible && !divides(options.batch, m)) continue;
      if (compact && !power_of_two(d_gpn)) continue;
      if (compact && d_node > 1 && d_gpn < pool.gpus_per_node && m <= pool.gpus_per_node / 2)
        continue;
      shapes.push_back({d_node, d_gpn});
    }
  }
  return shapes;
}

}  // namespace slackline::core

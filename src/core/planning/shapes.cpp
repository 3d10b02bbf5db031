#include "slackline/core/planning/shapes.h"

#include <algorithm>
#include <bit>

namespace slackline::core {
namespace {

constexpr std::int64_t kLargePool = 16;  // GPUs

bool power_of_two(int value) {
  return std::has_single_bit(static_cast<unsigned>(value));
}

}  // namespace

bool holds_replicas(Placement shape, int gpus_per_node, std::int64_t model_parallel) {
  if (model_parallel <= 1) return true;
  if (model_parallel <= gpus_per_node) return shape.d_gpn % model_parallel == 0;
  const std::int64_t nodes = (model_parallel + gpus_per_node - 1) / std::max(1, gpus_per_node);
  return model_parallel == nodes * shape.d_gpn && shape.d_node % nodes == 0;
}

std::vector<Placement> enumerate_placements(const Pool& pool, const ShapeOptions& options) {
  std::vector<Placement> shapes;
  const std::int64_t pool_gpus = std::int64_t{pool.nodes} * pool.gpus_per_node;
  const std::int64_t replica = std::max<std::int64_t>(1, options.model_parallel);
  const bool compact = options.compact && pool_gpus > kLargePool &&
                       std::has_single_bit(static_cast<std::uint64_t>(replica));
  for (int d_node = 1; d_node <= pool.nodes; ++d_node) {
    if (compact && !power_of_two(d_node)) continue;
    for (int d_gpn = 1; d_gpn <= pool.gpus_per_node; ++d_gpn) {
      const std::int64_t m = std::int64_t{d_node} * d_gpn;
      if (options.batch > 0 && m / replica > options.batch) break;
      if (options.max_gpus > 0 && m > options.max_gpus) break;
      if (options.fixed_total > 0 && m != options.fixed_total) continue;
      if (!holds_replicas({d_node, d_gpn}, pool.gpus_per_node, replica)) continue;
      if (options.divisible && !divides(options.batch, m / replica)) continue;
      if (compact && !power_of_two(d_gpn)) continue;
      if (compact && d_node > 1 && d_gpn < pool.gpus_per_node && m <= pool.gpus_per_node / 2)
        continue;
      shapes.push_back({d_node, d_gpn});
    }
  }
  return shapes;
}

}  // namespace slackline::core

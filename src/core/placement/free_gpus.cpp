#include "slackline/core/free_gpus.h"

#include <algorithm>
#include <cstdlib>

namespace slackline::core {
namespace {

std::vector<std::vector<int>> whole_nodes(const std::vector<Pool>& pools) {
  std::vector<std::vector<int>> gpus;
  for (const Pool& pool : pools)
    gpus.emplace_back(static_cast<std::size_t>(pool.nodes), pool.gpus_per_node);
  return gpus;
}

}  // namespace

FreeGpus::FreeGpus(const std::vector<Pool>& pools) : FreeGpus(whole_nodes(pools)) {}

FreeGpus::FreeGpus(const std::vector<std::vector<int>>& gpus) {
  for (const std::vector<int>& nodes : gpus) {
    PoolRange pool;
    pool.first_node = free_.size();
    pool.nodes = nodes.size();
    pool.first_level = at_least_.size();
    for (const int count : nodes)
      pool.most = std::max(pool.most, count);
    at_least_.resize(at_least_.size() + static_cast<std::size_t>(pool.most) + 1, 0);
    for (const int count : nodes) {
      if (count < 0) std::abort();
      free_.push_back(count);
      total_ += count;
      for (int g = 0; g <= count; ++g)
        ++at_least_[pool.first_level + static_cast<std::size_t>(g)];
    }
    pools_.push_back(pool);
  }
  capacity_ = free_;
  idle_ = total_;
}

bool FreeGpus::fits(PoolIndex pool, Placement shape, const EligibleNodes& eligible) const {
  const PoolRange& range = pools_[pool];
  if (shape.d_gpn > range.most) return false;
  const int room = at_least_[range.first_level + static_cast<std::size_t>(shape.d_gpn)];
  if (room < shape.d_node || eligible.all(pool)) return room >= shape.d_node;
  int found = 0;
  for (PoolNode node = 0; node < range.nodes && found < shape.d_node; ++node)
    if (at(pool, node) >= shape.d_gpn && eligible.contains(pool, node)) ++found;
  return found == shape.d_node;
}

std::vector<PoolNode> FreeGpus::find(PoolIndex pool, Placement shape,
                                     const EligibleNodes& eligible) const {
  std::vector<PoolNode> nodes;
  if (!fits(pool, shape, eligible)) return nodes;
  const std::size_t wanted = static_cast<std::size_t>(shape.d_node);
  nodes.reserve(wanted);
  const PoolRange& range = pools_[pool];
  for (int free = shape.d_gpn; free <= range.most; ++free)
    for (PoolNode node = 0; node < range.nodes; ++node) {
      if (at(pool, node) != free || !eligible.contains(pool, node)) continue;
      nodes.push_back(node);
      if (nodes.size() == wanted) return nodes;
    }
  return nodes;
}

void FreeGpus::take(PoolIndex pool, const std::vector<PoolNode>& nodes, int gpus) {
  for (const PoolNode node : nodes)
    change(pool, node, -gpus);
}

void FreeGpus::give_back(PoolIndex pool, const std::vector<PoolNode>& nodes, int gpus) {
  for (const PoolNode node : nodes)
    change(pool, node, gpus);
}

void FreeGpus::change(PoolIndex pool, PoolNode node, int by) {
  const PoolRange& range = pools_[pool];
  int& free = free_[range.first_node + node];
  const int after = free + by;
  if (after < 0 || after > capacity_[range.first_node + node]) std::abort();
  for (int g = std::min(free, after) + 1; g <= std::max(free, after); ++g)
    at_least_[range.first_level + static_cast<std::size_t>(g)] += by > 0 ? 1 : -1;
  free = after;
  idle_ += by;
}

}  // namespace slackline::core

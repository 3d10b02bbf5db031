#include "slackline/core/cluster/pools.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace slackline::core {

bool is_usable(const Node& node) {
  return node.ready && !node.unschedulable && node.problems.empty();
}

std::vector<Pool> derive_pools(const ClusterSnapshot& snapshot, const GpuCatalog& catalog) {
  std::vector<Pool> pools;
  std::size_t last = 0;  // neighbours are mostly alike: look there first
  for (const NodeStatePtr& state : snapshot.nodes) {
    const Node& node = *state->node;
    if (!is_usable(node)) continue;
    for (const ResourceAmount& amount : node.allocatable.gpus) {
      if (amount.count <= 0) continue;
      const auto same = [&](const Pool& pool) {
        return pool.type == node.gpu_type && pool.resource == amount.resource;
      };
      if (last >= pools.size() || !same(pools[last])) {
        const auto at = std::find_if(pools.begin(), pools.end(), same);
        last = static_cast<std::size_t>(at - pools.begin());
        if (at == pools.end())
          pools.push_back({node.gpu_type, amount.resource, 0, 0, catalog.cost(node.gpu_type)});
      }
      Pool& pool = pools[last];
      ++pool.nodes;
      pool.gpus_per_node = std::max(pool.gpus_per_node, countable_gpus(amount.count));
    }
  }
  std::sort(pools.begin(), pools.end(), [](const Pool& a, const Pool& b) {
    return std::tie(a.type, a.resource) < std::tie(b.type, b.resource);
  });
  return pools;
}

std::vector<QueuePool> find_pools(const ClusterSnapshot& snapshot, const GpuCatalog& catalog) {
  std::vector<QueuePool> pools;
  for (Pool& pool : derive_pools(snapshot, catalog))
    pools.push_back({std::move(pool), {}});
  for (NodeIndex i = 0; i < snapshot.nodes.size(); ++i) {
    const Node& node = *snapshot.node(i).node;
    if (!is_usable(node)) continue;
    for (QueuePool& pool : pools)
      if (pool.pool.type == node.gpu_type && node.allocatable.gpu_count(pool.pool.resource) > 0)
        pool.nodes.push_back(i);
  }
  return pools;
}

namespace {

// The blocks at this place of Node::blocks, numbered as they come.
NodeBlockLevel level_of(const ClusterSnapshot& snapshot, const std::vector<NodeIndex>& nodes,
                        std::size_t at) {
  NodeBlockLevel level;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers;
  for (const NodeIndex node : nodes) {
    const std::vector<std::uint64_t>& blocks = snapshot.node(node).node->blocks;
    const std::uint64_t block = at < blocks.size() ? blocks[at] : 0;
    level.of_node.push_back(
        block == 0
            ? NodeBlockLevel::kNone
            : numbers.try_emplace(block, static_cast<std::uint32_t>(numbers.size())).first->second);
  }
  level.blocks = numbers.size();
  return level;
}

// It tells some nodes from others.
bool tells(const NodeBlockLevel& level, const std::vector<NodeBlockLevel>& nearer) {
  const auto in_none = [](std::uint32_t block) { return block == NodeBlockLevel::kNone; };
  const bool all = std::none_of(level.of_node.begin(), level.of_node.end(), in_none);
  if (level.blocks == 0 || (all && level.blocks == 1)) return false;
  return nearer.empty() || nearer.back().of_node != level.of_node;
}

}  // namespace

std::shared_ptr<const NodeBlocks> find_blocks(const ClusterSnapshot& snapshot,
                                              const std::vector<QueuePool>& pools) {
  auto found = std::make_shared<NodeBlocks>();
  bool any = false;
  for (const QueuePool& pool : pools) {
    std::vector<NodeBlockLevel>& levels = found->emplace_back();
    std::size_t most = 0;
    for (const NodeIndex node : pool.nodes)
      most = std::max(most, snapshot.node(node).node->blocks.size());
    while (most-- > 0) {
      NodeBlockLevel level = level_of(snapshot, pool.nodes, most);
      if (tells(level, levels)) levels.push_back(std::move(level));
    }
    any = any || !levels.empty();
  }
  return any ? found : nullptr;
}

}  // namespace slackline::core

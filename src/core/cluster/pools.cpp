#include "slackline/core/cluster/pools.h"

#include <algorithm>
#include <tuple>

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

}  // namespace slackline::core

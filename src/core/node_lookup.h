// Requested names to node indices, many at once. Private to src/core.
#pragma once

#include <limits>
#include <string_view>
#include <vector>

#include "slackline/model/snapshot.h"

namespace slackline::core {

inline constexpr NodeIndex kUnknownNode = std::numeric_limits<NodeIndex>::max();

// The index of each name, kUnknownNode where the snapshot has no such node. A pass of its own,
// because look-ups that do not wait for each other overlap their cache misses.
std::vector<NodeIndex> find_nodes(const ClusterSnapshot& snapshot,
                                  const std::vector<std::string_view>& names);

// Starts loading what the loop will need a few rounds later: thousands of nodes do not fit into the
// first caches, and each is reached through two pointers.
class Prefetcher {
 public:
  Prefetcher(const ClusterSnapshot& snapshot, const std::vector<NodeIndex>& order)
      : snapshot_(snapshot), order_(order) {}

  void at(std::size_t i) const {
    if (const NodeState* state = ahead(i + 2 * kRounds)) __builtin_prefetch(state);
    if (const NodeState* state = ahead(i + kRounds)) {
      const char* node = reinterpret_cast<const char*>(state->node.get());
      __builtin_prefetch(node);
      __builtin_prefetch(node + 64);
      __builtin_prefetch(node + 128);
    }
  }

 private:
  static constexpr std::size_t kRounds = 6;

  const NodeState* ahead(std::size_t i) const {
    if (i >= order_.size() || order_[i] == kUnknownNode) return nullptr;
    return snapshot_.nodes[order_[i]].get();
  }

  const ClusterSnapshot& snapshot_;
  const std::vector<NodeIndex>& order_;
};

}  // namespace slackline::core

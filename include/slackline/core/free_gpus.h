// FreeGpus: free GPUs by pool and node, and the search for room in them.
//
// A node is named by its index in its pool. No GPU is given twice: taking more than is free, or
// giving back more than a node has, is a programming error and aborts.
#pragma once

#include <cstdint>
#include <vector>

#include "slackline/core/cost.h"
#include "slackline/model/placement.h"

namespace slackline::core {

using PoolIndex = std::uint32_t;
using PoolNode = std::uint32_t;

// Which nodes a task may use (node selector, taints, holds of others), by pool and node. A pool
// that is not listed, or has an empty row: all of its nodes.
struct EligibleNodes {
  std::vector<std::vector<bool>> by_pool;

  bool all(PoolIndex pool) const { return pool >= by_pool.size() || by_pool[pool].empty(); }
  bool contains(PoolIndex pool, PoolNode node) const { return all(pool) || by_pool[pool][node]; }
};

class FreeGpus {
 public:
  FreeGpus() = default;
  // What planned tasks may use at most, by pool and node: nodes may differ.
  explicit FreeGpus(const std::vector<std::vector<int>>& gpus);
  // Every node of every pool, empty.
  explicit FreeGpus(const std::vector<Pool>& pools);

  int total() const { return total_; }
  int idle() const { return idle_; }
  int at(PoolIndex pool, PoolNode node) const { return free_[pools_[pool].first_node + node]; }

  // Whether find() finds. O(1) where every node is eligible, else O(nodes).
  bool fits(PoolIndex pool, Placement shape, const EligibleNodes& eligible) const;
  // Best fit: of the eligible nodes with at least d_gpn free, the d_node ones with the fewest free
  // GPUs, by (free, index), in that order; empty where there are not so many. O(nodes x G).
  std::vector<PoolNode> find(PoolIndex pool, Placement shape, const EligibleNodes& eligible) const;

  // gpus on every node listed; a node listed twice counts twice.
  void take(PoolIndex pool, const std::vector<PoolNode>& nodes, int gpus);
  void give_back(PoolIndex pool, const std::vector<PoolNode>& nodes, int gpus);

 private:
  struct PoolRange {
    std::size_t first_node = 0;  // in free_ and capacity_
    std::size_t nodes = 0;
    std::size_t first_level = 0;  // in at_least_: level g is at first_level + g
    int most = 0;                 // the largest node
  };
  void change(PoolIndex pool, PoolNode node, int by);

  std::vector<PoolRange> pools_;
  std::vector<int> free_;
  std::vector<int> capacity_;
  std::vector<int> at_least_;  // by pool and g: nodes with at least g free
  int total_ = 0;
  int idle_ = 0;
};

}  // namespace slackline::core

// NodeSet: some nodes of a pool, a bit each, so that 64 of thousands are tested at a time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace slackline::core {

using PoolIndex = std::uint32_t;
using PoolNode = std::uint32_t;  // a node by its place in its pool

// A set of pools in one word; the last bit stands for all from the 64th on.
constexpr std::uint64_t pool_bit(PoolIndex pool) {
  return std::uint64_t{1} << (pool < 63 ? pool : 63);
}

class NodeSet {
 public:
  NodeSet() = default;
  // For a pool of this many nodes; empty at first.
  explicit NodeSet(std::size_t nodes) : words_((nodes + 63) / 64, 0) {}

  // Those marked true.
  explicit NodeSet(const std::vector<bool>& marked) : NodeSet(marked.size()) {
    for (PoolNode node = 0; node < marked.size(); ++node)
      if (marked[node]) insert(node);
  }

  explicit NodeSet(std::vector<std::uint64_t> words) : words_(std::move(words)) {}

  bool contains(PoolNode node) const { return (words_[node / 64] >> (node % 64) & 1U) != 0; }
  std::size_t size() const {
    std::size_t nodes = 0;
    for (const std::uint64_t word : words_)
      nodes += static_cast<std::size_t>(std::popcount(word));
    return nodes;
  }
  void insert(PoolNode node) { words_[node / 64] |= bit(node); }
  void erase(PoolNode node) { words_[node / 64] &= ~bit(node); }

  friend bool operator==(const NodeSet&, const NodeSet&) = default;

  // For no pool, which EligibleNodes treats as no restriction.
  bool unset() const { return words_.empty(); }
  template <class See>
  void for_each(const See& see) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      for (std::uint64_t left = words_[i]; left != 0; left &= left - 1)
        see(static_cast<PoolNode>(i * 64 + static_cast<std::size_t>(std::countr_zero(left))));
  }
  // Node n is bit n % 64 of word n / 64.
  const std::vector<std::uint64_t>& words() const { return words_; }

 private:
  static std::uint64_t bit(PoolNode node) { return std::uint64_t{1} << (node % 64); }

  std::vector<std::uint64_t> words_;
};

// Which nodes a task may use (node selector, taints, holds of others), by pool. A pool that is not
// listed, or has an unset row: all of its nodes.
struct EligibleNodes {
  std::vector<NodeSet> by_pool;
  // Where several of its pods share a node they need room besides GPUs together: by the GPUs that
  // they have there. Absent: as by_pool.
  std::map<int, std::vector<NodeSet>> of_several{};

  // `gpus`: of the task's pods on one node; 0: of one of them.
  const std::vector<NodeSet>& rows(int gpus) const {
    const auto at = of_several.find(gpus);
    return at == of_several.end() ? by_pool : at->second;
  }
  bool all(PoolIndex pool, int gpus = 0) const {
    const std::vector<NodeSet>& sets = rows(gpus);
    return pool >= sets.size() || sets[pool].unset();
  }
  bool contains(PoolIndex pool, PoolNode node, int gpus = 0) const {
    return all(pool, gpus) || rows(gpus)[pool].contains(node);
  }
};

// Shared by the tasks that have it in common; null: every node.
using EligibleNodesPtr = std::shared_ptr<const EligibleNodes>;

}  // namespace slackline::core

// FreeGpus: free GPUs by pool and node, and the search for room in them.
//
// No GPU is given twice: taking more than is free (and owed), or giving back more than a node has,
// is a programming error and aborts. So is a node with more than kMaxGpusPerNode: memory is a bit
// per node for each GPU that the largest node has.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "slackline/core/planning/cost.h"
#include "slackline/core/planning/free_rest.h"
#include "slackline/core/planning/node_set.h"
#include "slackline/model/placement.h"

namespace slackline::core {

// How near the nodes of a pool are to each other in the network: one level of its blocks, such as
// zones, racks or NVLink domains.
struct NodeBlockLevel {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<std::uint32_t> of_node;  // the number of its block, by PoolNode; kNone: in none
  std::size_t blocks = 0;              // numbered from 0
};

// By pool; the levels with the nearest nodes first. A pool without any has no blocks.
using NodeBlocks = std::vector<std::vector<NodeBlockLevel>>;

class FreeGpus {
 public:
  FreeGpus() = default;
  // The most that planned tasks may use, by pool and node: nodes may differ.
  explicit FreeGpus(const std::vector<std::vector<int>>& gpus);
  // Every node of every pool, empty.
  explicit FreeGpus(const std::vector<Pool>& pools);

  // Of the pools with a free GPU: bit min(pool, 63).
  std::uint64_t open_pools() const {
    std::uint64_t open = 0;
    for (PoolIndex pool = 0; pool < pools_.size(); ++pool)
      if (may_fit(pool, {1, 1})) open |= pool_bit(pool);
    return open;
  }
  PoolIndex pools() const { return static_cast<PoolIndex>(pools_.size()); }
  std::int64_t total() const { return total_; }
  std::int64_t idle() const { return idle_; }
  PoolNode nodes(PoolIndex pool) const {
    const std::size_t end =
        pool + std::size_t{1} < pools_.size() ? pools_[pool + 1].first_node : free_.size();
    return static_cast<PoolNode>(end - pools_[pool].first_node);
  }
  std::int64_t total(PoolIndex pool) const { return pools_[pool].total; }
  // Negative: as many of its GPUs are lost, and runs that hold them go on.
  int at(PoolIndex pool, PoolNode node) const { return free_[pools_[pool].first_node + node]; }

  // Eligible nodes with at least this many GPUs free, counted no further than `most`.
  int nodes_with(PoolIndex pool, int gpus, const EligibleNodes* eligible, int most) const;
  // False: no task can find such room. O(1).
  bool may_fit(PoolIndex pool, Placement shape) const {
    const std::vector<Level>& levels = pools_[pool].levels;
    const auto gpus = static_cast<std::size_t>(shape.d_gpn);
    return gpus < levels.size() && levels[gpus].count >= shape.d_node;
  }
  // Whether find() finds; `eligible` null: every node. O(1) where every node is eligible, else
  // O(nodes / 64).
  bool fits(PoolIndex pool, Placement shape, const EligibleNodes* eligible) const;
  // Best fit: of the eligible nodes with at least d_gpn free, the d_node ones with the fewest free
  // GPUs, by (free, index), in that order; empty if there are fewer. O(nodes / 64 x G).
  // Of `preferred` nodes first, as far as they go; null: none is. Else, of several nodes, in the
  // nearest block that has as many, of those the one that has the fewest more; where none has as
  // many, in as few blocks as will do. O(nodes x levels of blocks) for each block taken.
  std::vector<PoolNode> find(PoolIndex pool, Placement shape, const EligibleNodes* eligible,
                             const EligibleNodes* preferred = nullptr) const;

  // From now on find() takes these nodes only where the others do not suffice, and then last.
  void avoid(std::vector<NodeSet> by_pool) { avoided_ = std::move(by_pool); }
  bool avoids(PoolIndex pool, PoolNode node) const {
    return pool < avoided_.size() && !avoided_[pool].unset() && avoided_[pool].contains(node);
  }

  // Where they are known, it matters to several nodes of a pool which ones find() gives.
  bool has_blocks(PoolIndex pool) const { return blocks_ != nullptr && !(*blocks_)[pool].empty(); }
  // Null: no node is near another.
  void set_blocks(std::shared_ptr<const NodeBlocks> blocks) { blocks_ = std::move(blocks); }

  // gpus on every node listed; a node listed twice counts twice.
  void take(PoolIndex pool, const std::vector<PoolNode>& nodes, int gpus);
  void give_back(PoolIndex pool, const std::vector<PoolNode>& nodes, int gpus);
  // Runs hold as many more on this node than it has: so many of what they give back are gone.
  void owe(PoolIndex pool, PoolNode node, int gpus);

  // What is free besides; nullopt: nobody finds GPUs and not the rest.
  void set_rest(std::optional<FreeRest> rest) { rest_ = std::move(rest); }
  std::optional<FreeRest>& rest() { return rest_; }
  const std::optional<FreeRest>& rest() const { return rest_; }
  // Of the nodes that are `eligible` to pods of this need those that have the rest free, too.
  const EligibleNodes* usable(std::optional<RestNumber> need, const EligibleNodes* eligible) const {
    const EligibleNodes* now = rest_ && need ? rest_->usable(*need) : nullptr;
    return now == nullptr ? eligible : now;
  }

  // GPUs that runs hold of which a state knows nothing else.
  struct ToCome {
    PoolIndex pool = 0;
    PoolNode node = 0;
    int gpus = 0;
    double at_s = 0;  // when they are free; infinity: nobody knows
  };
  void expect(std::shared_ptr<const std::vector<ToCome>> to_come) { to_come_ = std::move(to_come); }
  // Null: none.
  const std::shared_ptr<const std::vector<ToCome>>& to_come() const { return to_come_; }

 private:
  // Nodes of a pool with at least this many GPUs free.
  struct Level {
    NodeSet nodes;
    int count = 0;
  };
  struct PoolRange {
    std::size_t first_node = 0;  // in free_ and capacity_
    std::vector<Level> levels;   // by GPUs, from 0 to one more than the largest node has
    std::int64_t total = 0;      // GPUs
    int most() const { return static_cast<int>(levels.size()) - 2; }  // at most kMaxGpusPerNode
  };
  void change(PoolIndex pool, PoolNode node, int by);
  // The nodes that a search looks at: in `in` where it is set, and not in `out` where that is.
  struct Side {
    const NodeSet* in = nullptr;
    const NodeSet* out = nullptr;
    const NodeSet* also_out = nullptr;
  };
  // Nodes that a task may use, and how many levels tell apart which of them are near each other.
  struct Block {
    NodeSet nodes;
    std::size_t levels = 0;
  };
  // In `in`: the block of the nearest level that has as many nodes as needed, and the fewest more;
  // else the one of its widest level that has most. Without levels where no block has any.
  Block nearest(PoolIndex pool, const Block& in, std::size_t needed) const;
  // Adds nodes of `in`, block by block, until there are as many as wanted or no more.
  void add_near(PoolIndex pool, Placement shape, Block in, std::vector<PoolNode>& nodes) const;
  // Adds eligible nodes of this side to those found, until there are as many as wanted.
  void add_best_fits(PoolIndex pool, Placement shape, const EligibleNodes* eligible,
                     const Side& side, std::vector<PoolNode>& nodes) const;

  std::vector<PoolRange> pools_;
  std::vector<int> free_;
  std::vector<int> capacity_;
  std::vector<int> owed_;         // empty: no node owes any
  std::vector<NodeSet> avoided_;  // by pool; empty: none
  std::shared_ptr<const NodeBlocks> blocks_;
  std::shared_ptr<const std::vector<ToCome>> to_come_;
  std::optional<FreeRest> rest_;
  std::int64_t total_ = 0;
  std::int64_t idle_ = 0;
};

}  // namespace slackline::core

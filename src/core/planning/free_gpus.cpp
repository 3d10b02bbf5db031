#include "slackline/core/planning/free_gpus.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>
#include <utility>

namespace slackline::core {
namespace {

constexpr std::uint64_t kEveryNode = ~std::uint64_t{0};

std::vector<std::vector<int>> whole_nodes(const std::vector<Pool>& pools) {
  std::vector<std::vector<int>> gpus;
  for (const Pool& pool : pools)
    gpus.emplace_back(static_cast<std::size_t>(pool.nodes), pool.gpus_per_node);
  return gpus;
}

// The words of the set, or of every node.
class Mask {
 public:
  Mask(const EligibleNodes* eligible, PoolIndex pool, int gpus)
      : words_(eligible == nullptr || eligible->all(pool, gpus)
                   ? nullptr
                   : &eligible->rows(gpus)[pool].words()) {}
  bool everything() const { return words_ == nullptr; }
  std::uint64_t operator[](std::size_t word) const {
    return words_ == nullptr ? kEveryNode : (*words_)[word];
  }

 private:
  const std::vector<std::uint64_t>* words_;
};

}  // namespace

FreeGpus::FreeGpus(const std::vector<Pool>& pools) : FreeGpus(whole_nodes(pools)) {}

FreeGpus::FreeGpus(const std::vector<std::vector<int>>& gpus) {
  for (const std::vector<int>& nodes : gpus) {
    PoolRange pool;
    pool.first_node = free_.size();
    const int most = nodes.empty() ? 0 : *std::max_element(nodes.begin(), nodes.end());
    if (most > kMaxGpusPerNode ||
        std::any_of(nodes.begin(), nodes.end(), [](int count) { return count < 0; }))
      std::abort();
    pool.levels.assign(static_cast<std::size_t>(most) + 2, {NodeSet(nodes.size()), 0});
    for (PoolNode node = 0; node < nodes.size(); ++node)
      for (int g = 0; g <= nodes[node]; ++g) {
        Level& level = pool.levels[static_cast<std::size_t>(g)];
        level.nodes.insert(node);
        ++level.count;
      }
    free_.insert(free_.end(), nodes.begin(), nodes.end());
    for (const int count : nodes)
      pool.total += count;
    total_ += pool.total;
    pools_.push_back(std::move(pool));
  }
  capacity_ = free_;
  idle_ = total_;
}

int FreeGpus::nodes_with(PoolIndex pool, int gpus, const EligibleNodes* eligible, int most) const {
  const PoolRange& range = pools_[pool];
  if (gpus > range.most()) return 0;
  const Level& level = range.levels[static_cast<std::size_t>(gpus)];
  if (level.count == 0) return 0;
  const Mask mask(eligible, pool, gpus);
  if (mask.everything()) return std::min(level.count, most);
  const std::vector<std::uint64_t>& words = level.nodes.words();
  int found = 0;
  for (std::size_t i = 0; i < words.size() && found < most; ++i)
    found += std::popcount(words[i] & mask[i]);
  return std::min(found, most);
}

bool FreeGpus::fits(PoolIndex pool, Placement shape, const EligibleNodes* eligible) const {
  return may_fit(pool, shape) &&
         nodes_with(pool, shape.d_gpn, eligible, shape.d_node) == shape.d_node;
}

std::vector<PoolNode> FreeGpus::find(PoolIndex pool, Placement shape, const EligibleNodes* eligible,
                                     const EligibleNodes* preferred) const {
  std::vector<PoolNode> nodes;
  if (!fits(pool, shape, eligible)) return nodes;
  nodes.reserve(static_cast<std::size_t>(shape.d_node));
  const NodeSet* avoided =
      pool < avoided_.size() && !avoided_[pool].unset() ? &avoided_[pool] : nullptr;
  const NodeSet* first =
      preferred != nullptr && !preferred->all(pool) ? &preferred->by_pool[pool] : nullptr;
  if (first != nullptr) add_best_fits(pool, shape, eligible, {.in = first, .out = avoided}, nodes);
  if (first == nullptr && shape.d_node > 1 && has_blocks(pool)) {
    const Mask mask(eligible, pool, shape.d_gpn);
    std::vector<std::uint64_t> words =
        pools_[pool].levels[static_cast<std::size_t>(shape.d_gpn)].nodes.words();
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] &= mask[i] & ~(avoided == nullptr ? 0 : avoided->words()[i]);
    add_near(pool, shape, {NodeSet(std::move(words)), (*blocks_)[pool].size()}, nodes);
  } else {
    add_best_fits(pool, shape, eligible, {.out = avoided, .also_out = first}, nodes);
  }
  if (avoided != nullptr) add_best_fits(pool, shape, eligible, {.in = avoided}, nodes);
  return nodes;
}

FreeGpus::Block FreeGpus::nearest(PoolIndex pool, const Block& in, std::size_t needed) const {
  const std::vector<NodeBlockLevel>& levels = (*blocks_)[pool];
  std::vector<std::size_t> room;
  std::optional<std::size_t> best;
  std::size_t at = 0;
  for (std::size_t level = 0; level < in.levels && !best; ++level) {
    at = level;
    room.assign(levels[level].blocks, 0);
    in.nodes.for_each([&](PoolNode node) {
      if (const auto block = levels[level].of_node[node]; block != NodeBlockLevel::kNone)
        ++room[block];
    });
    for (std::size_t block = 0; block < room.size(); ++block)
      if (room[block] >= needed && (!best || room[block] < room[*best])) best = block;
  }
  const auto most = std::max_element(room.begin(), room.end());
  if (most == room.end() || *most == 0) return {in.nodes, 0};
  if (!best) best = static_cast<std::size_t>(most - room.begin());
  Block found{NodeSet(nodes(pool)), at};
  in.nodes.for_each([&](PoolNode node) {
    if (levels[at].of_node[node] == *best) found.nodes.insert(node);
  });
  return found;
}

void FreeGpus::add_near(PoolIndex pool, Placement shape, Block in,
                        std::vector<PoolNode>& nodes) const {
  const auto wanted = static_cast<std::size_t>(shape.d_node);
  if (in.levels == 0) return add_best_fits(pool, shape, nullptr, {.in = &in.nodes}, nodes);
  while (nodes.size() < wanted && in.nodes.size() > 0) {
    const std::size_t before = nodes.size();
    add_near(pool, shape, nearest(pool, in, wanted - before), nodes);
    for (std::size_t i = before; i < nodes.size(); ++i)
      in.nodes.erase(nodes[i]);
  }
}

void FreeGpus::add_best_fits(PoolIndex pool, Placement shape, const EligibleNodes* eligible,
                             const Side& side, std::vector<PoolNode>& nodes) const {
  const auto wanted = static_cast<std::size_t>(shape.d_node);
  const PoolRange& range = pools_[pool];
  const Mask mask(eligible, pool, shape.d_gpn);
  const auto looked_at = [&](std::size_t word) {
    const std::uint64_t in = side.in == nullptr ? kEveryNode : side.in->words()[word];
    const std::uint64_t out = side.out == nullptr ? 0 : side.out->words()[word];
    return in & ~out & ~(side.also_out == nullptr ? 0 : side.also_out->words()[word]);
  };
  for (auto free = static_cast<std::size_t>(shape.d_gpn);
       nodes.size() < wanted && free + 1 < range.levels.size(); ++free) {
    if (range.levels[free].count == range.levels[free + 1].count) continue;  // no node has it
    const std::vector<std::uint64_t>& enough = range.levels[free].nodes.words();
    const std::vector<std::uint64_t>& more = range.levels[free + 1].nodes.words();
    for (std::size_t i = 0; i < enough.size(); ++i)
      for (std::uint64_t left = enough[i] & ~more[i] & mask[i] & looked_at(i); left != 0;
           left &= left - 1) {
        nodes.push_back(static_cast<PoolNode>(i * 64) +
                        static_cast<PoolNode>(std::countr_zero(left)));
        if (nodes.size() == wanted) return;
      }
  }
}

void FreeGpus::take(PoolIndex pool, const std::vector<PoolNode>& nodes, int gpus) {
  for (const PoolNode node : nodes)
    change(pool, node, -gpus);
}

void FreeGpus::give_back(PoolIndex pool, const std::vector<PoolNode>& nodes, int gpus) {
  for (const PoolNode node : nodes)
    change(pool, node, gpus);
}

void FreeGpus::owe(PoolIndex pool, PoolNode node, int gpus) {
  owed_.resize(free_.size());
  owed_[pools_[pool].first_node + node] = gpus;
}

void FreeGpus::change(PoolIndex pool, PoolNode node, int by) {
  PoolRange& range = pools_[pool];
  const std::size_t at = range.first_node + node;
  int& free = free_[at];
  const int after = free + by;
  const int least = owed_.empty() ? 0 : -owed_[at];
  if (after < least || after > capacity_[at]) std::abort();
  for (int g = std::max(0, std::min(free, after)) + 1; g <= std::max(free, after); ++g) {
    Level& level = range.levels[static_cast<std::size_t>(g)];
    level.count += by > 0 ? 1 : -1;
    if (by > 0)
      level.nodes.insert(node);
    else
      level.nodes.erase(node);
  }
  idle_ += std::max(0, after) - std::max(0, free);
  free = after;
}

}  // namespace slackline::core

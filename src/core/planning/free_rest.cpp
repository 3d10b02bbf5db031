#include "slackline/core/planning/free_rest.h"

#include <algorithm>
#include <limits>

namespace slackline::core {
namespace {

// Pods that have room.
std::int64_t pods_in(const RestAmounts& free, const RestAmounts& asked) {
  std::int64_t pods = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < asked.size(); ++i)
    if (asked[i] > 0) pods = std::min(pods, std::max<std::int64_t>(0, free[i]) / asked[i]);
  return pods;
}

std::vector<NodeSet> no_nodes(const RestLayout& layout) {
  std::vector<NodeSet> sets;
  for (const std::vector<std::uint32_t>& nodes : layout.node_of)
    sets.emplace_back(nodes.size());
  return sets;
}

}  // namespace

FreeRest::FreeRest(RestLayout layout, std::vector<RestAmounts> free) : free_(std::move(free)) {
  layout.places.resize(free_.size());
  for (PoolIndex pool = 0; pool < layout.node_of.size(); ++pool)
    for (PoolNode node = 0; node < layout.node_of[pool].size(); ++node)
      layout.places[layout.node_of[pool][node]].emplace_back(pool, node);
  layout_ = std::make_shared<const RestLayout>(std::move(layout));
  usable_.resize(layout_->needs.size());
  for (RestNumber number = 0; number < usable_.size(); ++number) {
    const RestNeed& of = needs()[number];
    if (of.asked.empty()) continue;
    usable_[number].by_pool = no_nodes(*layout_);
    for (const int pods : of.several)
      usable_[number].of_several.emplace(pods * of.gpus, no_nodes(*layout_));
    for (PoolIndex pool = 0; pool < layout_->node_of.size(); ++pool)
      for (PoolNode node = 0; node < layout_->node_of[pool].size(); ++node)
        renew(number, pool, node);
  }
}

void FreeRest::take(RestNumber number, PoolIndex pool, PoolNode node, std::int64_t pods) {
  const std::uint32_t at = layout_->node_of[pool][node];
  const RestAmounts& taken = needs()[number].taken;
  for (std::size_t i = 0; i < taken.size(); ++i)
    free_[at][i] -= taken[i] * pods;
  for (RestNumber other = 0; other < usable_.size(); ++other)
    if (!needs()[other].asked.empty())
      for (const auto& [in_pool, place] : layout_->places[at])
        renew(other, in_pool, place);
}

void FreeRest::renew(RestNumber number, PoolIndex pool, PoolNode node) {
  const RestNeed& of = needs()[number];
  if ((of.pools & pool_bit(pool)) == 0) return;
  const std::int64_t room = pods_in(free_[layout_->node_of[pool][node]], of.asked);
  const auto set = [&](std::vector<NodeSet>& rows, int pods) {
    const bool eligible =
        of.eligible == nullptr || of.eligible->contains(pool, node, pods * of.gpus);
    if (room >= pods && eligible)
      rows[pool].insert(node);
    else
      rows[pool].erase(node);
  };
  set(usable_[number].by_pool, 1);
  for (const int pods : of.several)
    set(usable_[number].of_several[pods * of.gpus], pods);
}

}  // namespace slackline::core

#include "slackline/core/planning/free_rest.h"

#include <algorithm>
#include <limits>

namespace slackline::core {
namespace {

// Pods that have room in what is free of each resource.
std::int64_t pods_in(const std::int64_t* free, const RestAmounts& asked) {
  std::int64_t pods = std::numeric_limits<std::int64_t>::max();
  for (std::size_t i = 0; i < asked.size(); ++i)
    if (asked[i] > 0) pods = std::min(pods, std::max<std::int64_t>(0, free[i]) / asked[i]);
  return pods;
}

// Unset in pools of which nobody asks.
std::vector<NodeSet> no_nodes(const RestLayout& layout, std::uint64_t pools) {
  std::vector<NodeSet> sets(layout.node_of.size());
  for (PoolIndex pool = 0; pool < sets.size(); ++pool)
    if ((pools & pool_bit(pool)) != 0) sets[pool] = NodeSet(layout.node_of[pool].size());
  return sets;
}

}  // namespace

FreeRest::FreeRest(RestLayout layout, const std::vector<RestAmounts>& free)
    : resources_(free.empty() ? 0 : free.front().size()) {
  free_.reserve(free.size() * resources_);
  for (const RestAmounts& of_node : free)
    free_.insert(free_.end(), of_node.begin(), of_node.end());
  layout.places.resize(free.size());
  for (PoolIndex pool = 0; pool < layout.node_of.size(); ++pool)
    for (PoolNode node = 0; node < layout.node_of[pool].size(); ++node)
      layout.places[layout.node_of[pool][node]].emplace_back(pool, node);
  layout_ = std::make_shared<const RestLayout>(std::move(layout));
  usable_.resize(layout_->needs.size());
  for (RestNumber number = 0; number < usable_.size(); ++number) {
    const RestNeed& of = needs()[number];
    if (of.asked.empty()) continue;
    usable_[number] = std::make_shared<EligibleNodes>();
    usable_[number]->by_pool = no_nodes(*layout_, of.pools);
    for (const int pods : of.several)
      usable_[number]->of_several.emplace(pods * of.gpus, no_nodes(*layout_, of.pools));
    for (PoolIndex pool = 0; pool < layout_->node_of.size(); ++pool)
      for (PoolNode node = 0; node < layout_->node_of[pool].size(); ++node)
        renew(number, pool, node);
  }
}

void FreeRest::take(RestNumber number, PoolIndex pool, PoolNode node, std::int64_t pods) {
  const std::uint32_t at = layout_->node_of[pool][node];
  const RestAmounts& taken = needs()[number].taken;
  for (std::size_t i = 0; i < taken.size(); ++i)
    free_[at * resources_ + i] -= taken[i] * pods;
  for (RestNumber other = 0; other < usable_.size(); ++other)
    if (usable_[other] != nullptr)
      for (const auto& [in_pool, place] : layout_->places[at])
        renew(other, in_pool, place);
}

void FreeRest::renew(RestNumber number, PoolIndex pool, PoolNode node) {
  const RestNeed& of = needs()[number];
  if ((of.pools & pool_bit(pool)) == 0) return;
  const std::int64_t room = pods_in(&free_[layout_->node_of[pool][node] * resources_], of.asked);
  std::shared_ptr<EligibleNodes>& usable = usable_[number];
  const auto set = [&](int pods, const auto& row_of) {
    const bool fits = room >= pods &&
                      (of.eligible == nullptr || of.eligible->contains(pool, node, pods * of.gpus));
    if (row_of(*usable).contains(node) == fits) return;
    if (usable.use_count() > 1) usable = std::make_shared<EligibleNodes>(*usable);
    NodeSet& row = row_of(*usable);
    fits ? row.insert(node) : row.erase(node);
  };
  set(1, [&](EligibleNodes& nodes) -> NodeSet& { return nodes.by_pool[pool]; });
  for (const int pods : of.several)
    set(pods, [&](EligibleNodes& nodes) -> NodeSet& {
      return nodes.of_several.at(pods * of.gpus)[pool];
    });
}

}  // namespace slackline::core

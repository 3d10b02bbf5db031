#include "room_by_stops.h"

#include <algorithm>
#include <tuple>

#include "stop_rules.h"

namespace slackline::core {
namespace {

constexpr std::size_t kMostSets = 4;

}  // namespace

void sort_cheapest_first(std::vector<StopVictim>& victims) {
  std::sort(victims.begin(), victims.end(), [](const StopVictim& a, const StopVictim& b) {
    return std::tuple(a.cost, a.run) < std::tuple(b.cost, b.run);
  });
}

RoomByStops::RoomByStops(const PlanState& state, const Choice& wanted,
                         const EligibleNodes* eligible, const std::vector<StopVictim>& victims)
    : state_(state), wanted_(wanted), eligible_(eligible), on_(state.free().nodes(wanted.pool)) {
  for (const StopVictim& victim : victims)
    if (state.running_choice(victim.run).pool == wanted.pool)
      for (const PoolNode node : state.progress(victim.run).run.nodes)
        on_[node].push_back(&victim);
}

std::vector<StopVictims> RoomByStops::on_one() const {
  std::vector<Ranked> found;
  for (PoolNode node = 0; node < on_.size(); ++node)
    if (auto one = ranked(node, {}, 1); one && !one->more.empty()) found.push_back(std::move(*one));
  std::sort(found.begin(), found.end());
  std::vector<StopVictims> sets;
  for (std::size_t i = 0; i < std::min(found.size(), kMostSets); ++i)
    sets.push_back(std::move(found[i].more));
  return sets;
}

// Nodes are added, the cheapest first, until there are enough; what a victim leaves on other
// nodes counts.
std::vector<StopVictims> RoomByStops::on_many() const {
  StopVictims set;
  std::vector<bool> taken(on_.size());
  for (int missing = wanted_.shape.d_node; missing > 0; --missing) {
    std::optional<Ranked> best;
    for (PoolNode node = 0; node < on_.size(); ++node) {
      if (taken[node]) continue;
      auto one = ranked(node, set, missing);
      if (one && (!best || *one < *best)) best = std::move(one);
    }
    if (!best) return {};
    taken[best->node] = true;
    set.insert(set.end(), best->more.begin(), best->more.end());
  }
  if (set.empty()) return {};
  return {std::move(set)};
}

// A gang that goes leaves other nodes, too, of those that are missing.
std::optional<RoomByStops::Ranked> RoomByStops::ranked(PoolNode node, const StopVictims& set,
                                                       int missing) const {
  auto more = besides(node, set);
  if (!more) return std::nullopt;
  StopCost cost;
  for (const StopVictim* victim : *more) {
    cost.rank += victim->cost.rank;
    cost.gpu_s += victim->cost.gpu_s;
  }
  std::size_t leaves = 1;
  if (more->size() == 1) leaves = state_.progress(more->front()->run).run.nodes.size();
  const auto gain =
      static_cast<double>(std::min(leaves, static_cast<std::size_t>(std::max(1, missing))));
  return Ranked{{cost.rank / gain, cost.gpu_s / gain}, node, std::move(*more)};
}

// Who must be stopped besides `set` so that the node has enough; nullopt: it never has.
std::optional<StopVictims> RoomByStops::besides(PoolNode node, const StopVictims& set) const {
  if (eligible_ != nullptr && !eligible_->contains(wanted_.pool, node, wanted_.shape.d_gpn))
    return std::nullopt;
  int free = state_.free().at(wanted_.pool, node);
  int others = 0;
  for (const StopVictim* victim : on_[node])
    (std::find(set.begin(), set.end(), victim) != set.end() ? free : others) += gpus_of(*victim);
  if (free + others < wanted_.shape.d_gpn) return std::nullopt;
  if (auto cheapest = taken_in_order(on_[node], set, free)) return cheapest;
  // A disruption budget let a small one go, and no other one: large ones first.
  StopVictims order = on_[node];
  std::sort(order.begin(), order.end(), [&](const StopVictim* a, const StopVictim* b) {
    return std::tuple(!a->overdue, -gpus_of(*a), a->run) <
           std::tuple(!b->overdue, -gpus_of(*b), b->run);
  });
  return taken_in_order(order, set, free);
}

// `free`: with what `set` leaves on the node.
std::optional<StopVictims> RoomByStops::taken_in_order(const StopVictims& order,
                                                       const StopVictims& set, int free) const {
  const int needed = wanted_.shape.d_gpn;
  StopVictims more;
  TakenDisruptions taken;
  const auto may_go = [&](const StopVictim& victim) {
    return taken.add(state_.tasks()[victim.run], victim.overdue);
  };
  for (const StopVictim* victim : set)
    (void)may_go(*victim);
  for (const StopVictim* victim : order) {
    if (free >= needed) break;
    if (std::find(set.begin(), set.end(), victim) != set.end() || !may_go(*victim)) continue;
    more.push_back(victim);
    free += gpus_of(*victim);
  }
  if (free < needed) return std::nullopt;
  std::erase_if(more, [&](const StopVictim* victim) {
    const bool spared = free - gpus_of(*victim) >= needed;
    if (spared) free -= gpus_of(*victim);
    return spared;
  });
  return more;
}

}  // namespace slackline::core

// RoomByStops: which of some runs to stop so that a placement fits. Of few nodes the cheapest sets
// are told. Private to src/core.
#pragma once

#include <compare>
#include <optional>
#include <tuple>
#include <vector>

#include "slackline/core/planning/plan_state.h"

namespace slackline::core {

// What it costs to stop some runs. First by rank: of CheckedStops how many of them would have met
// their deadline, of an owner who asks back the use that they make of their GPUs.
struct StopCost {
  double rank = 0;
  double gpu_s = 0;
  friend auto operator<=>(const StopCost&, const StopCost&) = default;
};

struct StopVictim {
  TaskIndex run = 0;
  StopCost cost;
  bool late = false;      // anyway
  double left = 0;        // of its work, once stopped
  double lost_gpu_s = 0;  // for which the asker's queue pays, if any does
  bool overdue = false;   // disruption budgets hold for it no longer
};
using StopVictims = std::vector<const StopVictim*>;

void sort_cheapest_first(std::vector<StopVictim>& victims);

class RoomByStops {
 public:
  // `victims` in the order in which they are taken where the cost does not decide. They, the state
  // and the nodes must outlive it.
  RoomByStops(const PlanState& state, const Choice& wanted, const EligibleNodes* eligible,
              const std::vector<StopVictim>& victims);

  // Cheapest first, a few; none is empty, and disruption budgets let each go as a whole.
  std::vector<StopVictims> sets() const { return wanted_.shape.d_node == 1 ? on_one() : on_many(); }

 private:
  struct Ranked {
    StopCost cost;
    PoolNode node = 0;
    StopVictims more;
    bool operator<(const Ranked& other) const {
      return std::tuple(cost, node) < std::tuple(other.cost, other.node);
    }
  };

  std::vector<StopVictims> on_one() const;
  std::vector<StopVictims> on_many() const;
  std::optional<Ranked> ranked(PoolNode node, const StopVictims& set, int missing) const;
  std::optional<StopVictims> besides(PoolNode node, const StopVictims& set) const;
  std::optional<StopVictims> taken_in_order(const StopVictims& order, const StopVictims& set,
                                            int free) const;
  int gpus_of(const StopVictim& victim) const {
    return state_.running_choice(victim.run).shape.d_gpn;
  }

  const PlanState& state_;
  const Choice wanted_;
  const EligibleNodes* eligible_;
  std::vector<StopVictims> on_;  // by node
};

}  // namespace slackline::core

// ForecastBook: when every task of a queue will start and finish, computed together
// (core/planning/rollout.h) and then looked up. For a long queue the forecast of one task costs
// hardly less than that of all.
//
// An immutable value; finding a task is one lookup in a hash table.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "slackline/base/duration.h"
#include "slackline/core/planning/rollout.h"
#include "slackline/model/ids.h"

namespace slackline::core {

// As RolloutOptions::expected and ::window_s.
struct Expected {
  std::vector<PlanTask> tasks{};
  double window_s = 86400;
};

// RolloutOptions::resolution where so many tasks wait: the more, the coarser, at most a tenth.
double resolution_for(std::size_t waiting);

using NodeNameOf = std::function<NodeName(PoolIndex, PoolNode)>;

class ForecastBook {
 public:
  ForecastBook() = default;  // of nobody
  // Forecasts all tasks that wait or run in the state and have a name. names[task] is unique and
  // outlives the task's index; tasks without a name are played but not reported. The longer the
  // queue, the coarser the times: at most a tenth of the time from now. Empty if it was stopped
  // (base/stop.h). Without `node_name` it does not know where reservations are.
  ForecastBook(const PlanState& state, const std::vector<Uid>& names, double now_s,
               const Policy& policy, const StopAsked& stop = {}, Expected expected = {},
               const NodeNameOf& node_name = {});

  double made_s() const { return made_s_; }  // the `now_s` that it was computed for
  // When the first of those that wait should have started: from then on the book is out of date,
  // whether it did or not.
  double holds_until_s() const { return holds_until_s_; }
  std::size_t size() const { return entries_.size(); }
  const Forecast* find(const Uid& name) const;  // nullptr: not in the book
  // Those that the plan of now keeps for a task that cannot start yet; empty: none.
  const std::vector<NodeName>& nodes_for(const Uid& name) const;

 private:
  double made_s_ = 0;
  double holds_until_s_ = kNever;
  std::unordered_map<Uid, Forecast> entries_;
  std::unordered_map<Uid, std::vector<NodeName>> reserved_;
};

}  // namespace slackline::core

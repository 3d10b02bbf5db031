// Moves: which running tasks should go on elsewhere though nobody's turn has come.
//
//   slow         a run that has been slower than kSlowShare of the prediction for a while
//                (run_speeds.h): to other nodes, in its shape. Once only: a task that is slow
//                elsewhere too is slow itself
//
// What is gained: the seconds by which the task ends earlier, from what is left at the observed
// speed against what a stop would leave at the predicted speed, start-up included. What it costs:
// the GPU time that the stop loses (core/planning/lost_work.h). Advised is what gains more GPU time
// than it costs, where there is room elsewhere, or will be once running tasks have ended and nobody
// waits for it.
//
// Carried out may be what is possible now, if the queue of the task that gains has `rescheduling:
// auto`: by the protections of the policy, its budget, and disruption budgets; one at a time of a
// queue; and only if the planner would start the task elsewhere at once.
//
// Pure. Times are epoch seconds.
#pragma once

#include <vector>

#include "slackline/core/cluster/queue.h"
#include "slackline/core/cluster/room.h"
#include "slackline/core/cluster/run_speeds.h"
#include "slackline/model/move_advice.h"

namespace slackline::core {

// At once; of more the first that started count.
inline constexpr std::size_t kMostAdvised = 32;

struct Move {
  MoveAdvice advice;
  TaskIndex gains = 0;           // the task of the advice
  std::vector<TaskIndex> moved;  // in the order of the advice's moves
};

// After a plan: `queue` as that plan left it.
class Moves {
 public:
  // All references outlive it.
  Moves(const ClusterSnapshot& snapshot, const QueueOptions& options, const Queue& queue,
        const RunSpeeds& speeds);

  std::vector<Move> advised() const;
  // Of these, those to carry out now.
  std::vector<Move> carried_out(const std::vector<Move>& advised, const Policy& policy) const;

 private:
  const QueueRules& rules_of(TaskIndex index) const;
  EligibleNodes nodes_elsewhere(TaskIndex index) const;
  std::vector<NodeName> names(PoolIndex pool, const std::vector<PoolNode>& nodes) const;
  std::optional<Move> of_slow_run(TaskIndex index, const RunSpeed& speed) const;
  double room_from_s(const Choice& choice, const EligibleNodes& eligible) const;
  bool allowed(const Move& move, const StopLimits& limits) const;
  bool would_start_elsewhere(const Move& move, const Policy& policy) const;

  const ClusterSnapshot& snapshot_;
  const QueueOptions& options_;
  const Queue& queue_;
  const PlanState& state_;
  const RunSpeeds& speeds_;
  const RoomTable room_;
};

}  // namespace slackline::core

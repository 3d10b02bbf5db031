// Moves: which running tasks should go on elsewhere though nobody's turn has come.
//
//   slow         a run that has been slower than kSlowShare of the prediction for a while
//                (run_speeds.h): to other nodes, in its shape. Once only: a task that is slow
//                elsewhere too is slow itself
//   fragmented   at most three runs, to other nodes in their shapes, so that a task can start that
//                waits for room though enough GPUs are free in the pool
//
// What a slow run gains: the seconds by which it ends earlier, from what is left at the observed
// speed against what a stop would leave at the predicted speed, start-up included. What a waiting
// task gains: the seconds until runs that end would let it start. What a move costs: the GPU time
// that its stops lose (core/planning/lost_work.h). Advised is what gains more GPU time than it
// costs. A slow run needs room elsewhere now, or once running tasks have ended and nobody waits for
// it; runs that clear a place all need it now, must not miss their deadlines for it, and are among
// those that the policy may stop, if it stops any.
//
// Carried out may be what is possible now, if the queues of all tasks concerned have `rescheduling:
// auto`: by the protections of the policy, its budget, and disruption budgets; one at a time of a
// queue; and only if the planner would start all of them at once.
//
// Pure. Times are epoch seconds.
#pragma once

#include <optional>
#include <vector>

#include "slackline/core/cluster/queue.h"
#include "slackline/core/cluster/room.h"
#include "slackline/core/cluster/run_speeds.h"
#include "slackline/model/move_advice.h"

namespace slackline::core {

// At once; of more the first that started count.
inline constexpr std::size_t kMostAdvised = 32;
// Of the tasks that wait, in order of their arrival, so many are looked at, and helped.
inline constexpr std::size_t kMostLookedAt = 32;
inline constexpr std::size_t kMostWaitingHelped = 4;

class Clearer;
struct MovableRun;

struct Move {
  MoveAdvice advice;
  TaskIndex gains = 0;           // the task of the advice
  std::vector<TaskIndex> moved;  // in the order of the advice's moves
  EligibleNodesPtr cleared{};    // where the task that gains may go then; null: it moves itself
};

// After a plan: `queue` as that plan left it.
class Moves {
 public:
  // All references outlive it.
  Moves(const ClusterSnapshot& snapshot, const QueueOptions& options, const Queue& queue,
        const RunSpeeds& speeds, const Policy& policy);

  std::vector<Move> advised() const;
  // Of these, the one to carry out now, none that disruption budgets forbid: the places of each
  // were looked for as if nothing else moved. nullopt: none.
  std::optional<Move> carried_out(const std::vector<Move>& advised) const;

 private:
  const QueueRules& rules_of(TaskIndex index) const;
  const RoomTable& room() const;
  EligibleNodes elsewhere(TaskIndex index) const;
  std::vector<NodeName> names(PoolIndex pool, const std::vector<PoolNode>& nodes) const;
  std::optional<Move> of_slow_run(TaskIndex index, const RunSpeed& speed) const;
  void help_waiting(std::vector<Move>& found) const;
  bool finds_room_scattered(TaskIndex waits) const;
  std::vector<MovableRun> movable() const;
  std::optional<Move> that_lets_in(TaskIndex waits, const Clearer& clearer) const;
  std::optional<Move> that_lets_in(TaskIndex waits, const Choice& choice,
                                   const Clearer& clearer) const;
  bool keeps_deadline(TaskIndex index) const;
  double room_from_s(const Choice& choice, const EligibleNodes& eligible) const;
  bool may_be_moved(TaskIndex index) const;
  bool is_allowed(const Move& move) const;
  bool would_start_all(const Move& move) const;

  const ClusterSnapshot& snapshot_;
  const QueueOptions& options_;
  const Queue& queue_;
  const PlanState& state_;
  const RunSpeeds& speeds_;
  const Policy& policy_;
  mutable std::optional<RoomTable> room_;  // made once it is needed
};

}  // namespace slackline::core

// plan: what to do now. The one function that the daemon's planner and the simulator call.
//
// Deterministic, no I/O: the same state, time and policy give the same effects. `state` is changed
// as if the effects had happened. A caller that carries the effects out therefore plans on a copy
// of the state.
//
// Effects are in the order in which they apply: room is made before it is taken. A stop or restart
// frees GPUs that a later start of the same plan uses: wait until they are free.
#pragma once

#include <optional>
#include <vector>

#include "slackline/core/planning/plan_state.h"
#include "slackline/core/planning/policy.h"
#include "slackline/model/room_gain.h"

namespace slackline::core {

// A start begins a run, a stop (preemption) ends one, a restart does both with another number of
// GPUs.
struct Effect {
  TaskIndex task = 0;
  std::optional<Run> ended;
  std::optional<Run> begun;
  RoomGain gain{};              // of the task for which this run ends
  bool risks_deadline = false;  // of a stop: it would have met its deadline (option `trade`)
  bool gives_back = false;      // of a stop: it borrowed what the other one's queue owns
  bool overdue = false;         // the same: its owner has waited as long as budgets may delay him

  bool is_start() const { return begun && !ended; }
  bool is_stop() const { return ended && !begun; }
  bool is_restart() const { return ended && begun; }
};

// A task that fits and waits: if it began now, another one that waits would miss its deadline.
struct Yielding {
  TaskIndex task = 0;
  TaskIndex to = 0;
};

// The nodes that the policy keeps for a task that cannot start yet.
struct Reservation {
  TaskIndex task = 0;
  PoolIndex pool = 0;
  std::vector<PoolNode> nodes{};
};

struct Plan {
  std::vector<Effect> effects;
  std::vector<Reservation> reservations{};  // each task once
  // Tasks for which others would have been stopped, had their queues not spent what they may make
  // others lose (option `budget`). Each once.
  std::vector<TaskIndex> denied_room{};
  std::vector<Yielding> yields{};  // each task once
  // Call again at this time even if nothing happens; unset where an earlier request still stands
  // (PlanState::next_wake_s) or none is needed.
  std::optional<double> next_wake_s;
};

Plan plan(PlanState& state, double now_s, const Policy& policy);

// Whether it may ever stop runs of the state: for others by the policy, or, whatever the policy,
// for owners of shares who ask for what is theirs.
bool may_stop_runs(const PlanState& state, const Policy& policy);

}  // namespace slackline::core

// Trials: how a task would fare, and what it would change for others, asked of one queue several
// times. Every trial plays the same futures (core/planning/rollout.h), so that two of them differ
// only in what was asked.
//
// Some tasks of the state are aside: variants of one task, of which at most one waits in a trial.
//
// Times are seconds on the clock of the state. Immutable; state and policy outlive it.
#pragma once

#include <optional>
#include <vector>

#include "slackline/core/planning/forecast_book.h"
#include "slackline/core/planning/rollout.h"

namespace slackline::core {

struct QueueTrialOptions {
  std::vector<TaskIndex> aside{};
  Expected expected{};
  StopAsked stop{};  // a trial that is stopped has no answer
};

// What a trial changes for a task that waits or runs.
struct Delay {
  TaskIndex task = 0;
  double by_s = 0;       // later, as predicted: its finish, infinity: beyond the horizon
  bool stopped = false;  // it runs now, and would be stopped or shrunk
};

class Trials {
 public:
  Trials(const PlanState& state, const Policy& policy, double now_s,
         const QueueTrialOptions& options);

  double now_s() const { return few_.now_s(); }
  std::size_t size() const { return state_.tasks().size(); }  // of the table
  // The state in which `task` waits, and nobody else of those aside; nullopt: none of them.
  PlanState with(std::optional<TaskIndex> task) const;
  // Whether it would wait at all; a task with a hindrance, or an empty menu, does not.
  bool waits(TaskIndex task) const;

  // The forecast of `task` in this state; nullopt: it was stopped. O(kFewFutures x calls of the
  // policy until the task has ended).
  std::optional<Forecast> forecast(const PlanState& state, TaskIndex task) const;
  std::optional<Forecast> forecast(TaskIndex task) const { return forecast(with(task), task); }

  // Who ends later if the task comes too: tasks below `most`, the most delayed first. As predicted,
  // in one future; what is less than the grain of the play does not count. nullopt: it was stopped.
  std::optional<std::vector<Delay>> delays(TaskIndex task, TaskIndex most) const;

 private:
  std::vector<TaskIndex> present(TaskIndex most) const;

  const PlanState& state_;
  const Policy& policy_;
  std::vector<TaskIndex> aside_;
  StopAsked stop_;
  Futures few_;
  Futures predicted_;
  mutable std::optional<std::vector<Forecast>> undisturbed_;  // of everybody, once it was asked for
};

}  // namespace slackline::core

// What the planner did, for the decision journal: a row for every planned start, every move of a
// planned task, and every suspension of one, once the API server has taken it.
//
//   plan      a start: shape, GPU type and nodes
//   move      a deviation, with its reason: another plan for a task on its way, or another node for
//             one pod
//   suspend   back into the queue, with its reason (core/handover/hand_over.h)
//
// What a release predicts of its task is kept until the task is over (store/journal.h); that of a
// release after a stop, which is of the rest only, is not.
//
// The row is about the Job, or about the pod where no Job carries the plan; its candidates are the
// nodes of the plan. Thread-safe; never waits (DecisionLog).
#pragma once

#include <optional>

#include "control/journal/decision_log.h"
#include "slackline/base/clock.h"
#include "slackline/model/own_write.h"

namespace slackline::control {

// nullopt: nothing was decided, the write only carries out an earlier decision.
std::optional<DecisionRow> row_of(const OwnWrite& write, double now_s);

class PlanJournal {
 public:
  PlanJournal(DecisionLog& log, const Clock& clock) : log_(log), clock_(clock) {}

  void written(const OwnWrite& write);

 private:
  DecisionLog& log_;
  const Clock& clock_;
};

}  // namespace slackline::control

// What people are told of a forecast. Tasks whose run time is unknown are played with a guess: when
// they start depends on others and is told, when they end is not.
#pragma once

#include "slackline/core/cluster/queue.h"
#include "slackline/core/planning/rollout.h"

namespace slackline::core {

// On what it runs on, else on some placement.
bool end_is_known(const QueueTask& task, const PlanState& state, TaskIndex index);

// Where its end is not known it never ends, and has no chance but that of 0 if it starts after its
// deadline in nine futures of ten; nor has it one if its time limit ends it before its work is
// done. `state`: where the task has this index, as it was or after a change.
Forecast as_told(Forecast forecast, const QueueTask& task, const PlanState& state, TaskIndex index);

}  // namespace slackline::core

// Overtime: the time of a run in which it did no work that it was to do.
//
// Work is counted in shares of the task, of which there are no more than all: a run that takes
// longer than its whole work should have taken, or that reports less than its time was worth, does
// nothing in the rest. A stop does not lose that time: whoever states too short a run, or reports
// none of its progress, would lose more by it with every minute, and could soon not be stopped.
//
// Pure.
#pragma once

#include "slackline/core/planning/plan_state.h"

namespace slackline::core {

// Seconds, never negative, of a run that is not longer than until now_s; the whole task takes
// work_s on its placement.
double overtime_s(const Run& run, double work_s, double now_s);

}  // namespace slackline::core

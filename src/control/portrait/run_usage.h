// What is asked for of a run that is over, and what its usage is then. Pure.
#pragma once

#include <optional>

#include "control/portrait/ended_runs.h"
#include "slackline/model/finished_task.h"
#include "slackline/model/snapshot.h"
#include "slackline/model/usage.h"
#include "telemetry/measured_tasks.h"

namespace slackline::control {

// Its pods, each for the time that it ran. `snapshot` knows which nodes share their GPUs.
telemetry::MeasuredTask measured_task_of(const EndedRun& ended, const ClusterSnapshot& snapshot);

// What was measured of the whole time from its first start to its end, as usage of the run: seconds
// are those in which it ran, without those in which it waited again.
UsageSample usage_of_run(const EndedRun& ended, UsageSample measured);

// For the history: GPUs that others shared are left out, because the numbers are the device's.
// nullopt: nothing was measured.
std::optional<MeasuredUse> measured_use_of(const UsageSample& usage);

// How much was measured, for comparing two readings of one run.
double measured_s(const UsageSample& usage);

}  // namespace slackline::control

// A run as a Gantt chart: one row per GPU, one bar per run of a task on it.
//
// Class: colour and pattern (Urgent hatched, Prior dotted, Normal plain), so that it reads without
// colours too. A deadline is a tick on the first GPU of the task's last run; runs of tasks that
// missed it have a dark frame. A preemption is a cross at the end of the run. Pointing at a bar
// shows task, times and deadline. A log has nodes, not GPUs: a run gets the lowest free GPUs of its
// nodes, as it would without fragmentation within a node.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/engine.h"

namespace slackline::sim {

// `outcome` must have its events. Rows get thinner the more GPUs there are, down to 3 pixels.
std::string timeline_svg(const core::TaskTable& tasks, const Platform& platform,
                         const Outcome& outcome, std::string_view title);

// The marks of its axis of hours: 0, s, 2s ... up to `last`, with s the least of 1, 2, 5, 10, 20
// ... (or below 1: 0.1, 0.2, 0.5) that makes at most twelve steps; last > 0.
std::vector<double> axis_marks(double last);

}  // namespace slackline::sim

// Bounds for every policy: upper bound on Q, least load, lower bound on the makespan.
//
// Relaxation for Q: preemption is free, a task may change its placement at any instant and run in
// several by turns, and the future is known. A task that is to be done within a window of L seconds
// then needs at least the GPU-seconds of the lower convex envelope of its placements' (latency,
// GPU-seconds) at L. Of the tasks whose windows lie within [a, b], no more can be done than gpus x
// (b - a) GPU-seconds allow. These are the only constraints; they form a polymatroid, so the greedy
// choice is optimal: take the tasks by need, smallest first, each as far as there is room; a part
// of a task counts as that part. The bound is exact for the relaxation and loose for reality: it
// assumes that every task could have the fastest pool, and knows nothing of nodes.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/noise.h"
#include "slackline/core/planning/plan_state.h"

namespace slackline::sim {

// A way to run a task from start to finish.
struct BoundChoice {
  double lat_s = 0;  // start-up included
  int gpus = 1;
};

struct BoundTask {
  double submit_s = 0;
  double deadline_s = 0;
  std::vector<BoundChoice> choices;  // one at least
};

struct Bounds {
  double q = 0;               // percent: no policy meets more deadlines
  double feasible_alone = 0;  // percent: would meet its deadline on an empty cluster
  double load = 0;            // least GPU-seconds / (gpus x last submission); 0 for one instant
  double makespan_s = 0;      // no policy finishes earlier, counted from time 0
};

// O(n^2 log n) in the number of tasks. No tasks: all 0.
Bounds bounds_of(const std::vector<BoundTask>& tasks, int gpus);

// The tasks of a table as the bound sees them: every placement of their menus with its true time,
// without the weights of pools.
std::vector<BoundTask> bound_tasks(const core::TaskTable& tasks,
                                   const std::vector<core::Pool>& pools, const Noise& noise);

// The least GPU-seconds in which the task can be done within `window_s`; infinity if it cannot.
double least_gpu_seconds(const std::vector<BoundChoice>& choices, double window_s);

}  // namespace slackline::sim

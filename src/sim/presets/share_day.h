// One simulated day of departments that share GPUs, and its figures; private to src/sim/presets.
//
// A department is a queue; the type of a GPU is its pool. GPUs that are not there at the time are
// held by tasks of one GPU each that belong to nobody: a queue without a share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "slackline/core/planning/play.h"

namespace slackline::sim {

// The last nodes of a pool, which are there for some hours only. Nobody is stopped when they go:
// they take no new task then.
struct ExtraNodes {
  core::PoolIndex pool = 0;
  int nodes = 0;
  double from_s = 0;
  double until_s = 0;
};

struct ShareDay {
  std::vector<core::PlanTask> tasks;  // their queues are below `departments`
  core::QueueNumber departments = 0;
  std::vector<core::Pool> pools;
  ExtraNodes extra;
  std::shared_ptr<const core::Shares> shares;  // null: nobody minds whose GPUs are whose
};

// A task as it went.
struct ShareTask {
  struct Run {
    core::PoolIndex pool = 0;
    int gpus = 0;
    double from_s = 0;
    double until_s = 0;  // of what never ends: when the day was over
  };
  core::QueueNumber department = 0;  // of those that hold what is not there: nobody's
  double submit_s = 0;
  double deadline_s = 0;
  std::optional<double> finish_s{};
  std::vector<Run> runs{};
};

// Those of the day, then those that hold what is not there.
std::vector<ShareTask> play_share_day(const ShareDay& day, const core::Policy& policy);

struct ShareFigures {
  double q = 0;        // percent of the tasks that are done in time
  double jain = 0;     // Jain's index over the departments' q: 1 if all are equal
  double gpu_use = 0;  // percent of the GPU time of the day that departments use in it
  // GPU-hours that departments use beyond their own GPUs, and together beyond the pool: they are of
  // GPUs that others own.
  double borrowed_gpu_h = 0;
  // Of tasks that begin within their department's own GPUs, 9 of 10 do so within this time since
  // the task was there and the department used few enough of its own for that run.
  double give_back_p90_s = 0;
};

struct DayCapacity {
  double day_s = 0;
  double gpu_s = 0;  // that there is in it
};

// `shares`: who owns what, whether the day was played by it or not.
ShareFigures share_figures(const std::vector<ShareTask>& tasks, const core::Shares& shares,
                           const DayCapacity& capacity);

}  // namespace slackline::sim

// The platform of an experiment, and a trace on it: every task with its menu of placements.
#pragma once

#include <string_view>
#include <vector>

#include "sim/noise.h"
#include "sim/trace.h"
#include "slackline/base/result.h"
#include "slackline/core/planning/plan_state.h"
#include "slackline/model/workload.h"

namespace slackline::sim {

struct Platform {
  std::vector<core::Pool> pools;
  double theta = core::kDefaultTheta;
  double restart_s = 60;      // start-up after a preemption
  double checkpoint_s = 600;  // a preemption loses the work done since; 0 = nothing
  int max_gpus = 16;          // of one task
  bool fixed = false;         // the requested GPU count is binding
  bool divisible = false;     // only shapes that divide the batch
  double fallback_after_s = kDefaultFallback_s;  // core::PlanTask

  int gpus() const;
};

// "4x4" or "2x4:k80,2x4:p100*3.2": pools of NODES x GPUS, their GPU type, and what a GPU of it
// costs (1 unless said). One pool may go without a type.
Result<std::vector<core::Pool>> parse_platform(std::string_view text);

// Gives every profile entry the name that the platform uses for its GPU type (case does not count),
// and a pool without a type the only type of the profile, in small letters. kInvalidArgument where
// a pool's type has no entry.
Status match_types(std::vector<core::Pool>& pools, std::vector<ProfileEntry>& entries);

// kInvalidArgument where a task's type has no profile, or none of its placements exist, or no pool
// is of a GPU type that it accepts.
Result<core::TaskTable> prepare(const Trace& trace, const WorkloadProfiles& profiles,
                                const Platform& platform);

// With Platform::fixed: a sentence of the tasks that run on one GPU, because there is no placement
// of the number that they ask for; "" without one.
std::string on_one_gpu(const core::TaskTable& tasks);

// How far the tasks that say nothing of their length are from what is expected of them, on every
// GPU type: recordings are of one.
void add_unexpected(Noise& noise, const Trace& trace);

// One task of a table, from its estimates.
core::PlanTask prepare_task(const TraceTask& task, const std::vector<core::Estimate>& estimates,
                            const Platform& platform);

}  // namespace slackline::sim

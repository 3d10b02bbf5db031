// The simulator: a trace played against a policy (core/planning/play.h) with true run times, and
// its outcome.
#pragma once

#include <functional>
#include <vector>

#include "sim/noise.h"
#include "sim/platform.h"
#include "slackline/core/planning/play.h"

namespace slackline::sim {

// What happened to a run; `run` is the one that began or ended.
struct EventRow {
  double time_s = 0;
  core::RunEvent kind = core::RunEvent::kStart;
  core::TaskIndex task = 0;
  core::Run run;
};

struct TaskOutcome {
  bool finished = false;  // false: the policy never served it
  double finish_s = 0;
  double first_start_s = 0;
  int stops = 0;
};

struct Outcome {
  std::vector<TaskOutcome> tasks;   // as in the table
  std::vector<EventRow> events;     // if asked for
  double gpu_seconds = 0;           // over all runs, stopped ones too
  double gpu_seconds_arrivals = 0;  // of these, up to the last submit
  int preemptions = 0;
  double lost_gpu_seconds = 0;  // that stopped runs held in vain
  int batches = 0;              // calls of the policy
};

struct SimulationOptions {
  bool keep_events = false;
  // Called now and then with the simulated time and the number of finished tasks; may be empty.
  std::function<void(double now_s, std::size_t finished)> progress{};
  // Sees the state after every call of the policy; false ends the run. May be empty.
  std::function<bool(const core::PlanState& state, double now_s)> watch{};
};

Outcome simulate(const core::TaskTable& tasks, const Platform& platform, const core::Policy& policy,
                 const Noise& noise, const SimulationOptions& options = {});

}  // namespace slackline::sim

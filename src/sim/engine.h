// The simulator's event loop: plays a trace against the same plan() that the daemon calls.
//
//   queue of (time, kind, seq): arrival, finish, wake-up; arrivals first, in the table's order
//   while it is not empty:
//      now = time of the first entry; take all entries up to now + 1e-6 in order
//      arrival: the task waits      finish: its GPUs are free      wake-up: nothing
//      call the policy once
//
// The finish of a run that was preempted stays queued; the policy is called at its time too.
// Nothing ends early: the queue is drained.
#pragma once

#include <functional>
#include <vector>

#include "sim/noise.h"
#include "sim/platform.h"
#include "slackline/core/plan.h"

namespace slackline::sim {

enum class EventKind { kStart, kFinish, kPreempt };

// What happened to a run; `run` is the one that began or ended.
struct EventRow {
  double time_s = 0;
  EventKind kind = EventKind::kStart;
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
  int batches = 0;  // calls of the policy
};

struct SimulationOptions {
  bool keep_events = false;
  // Told the simulated time and the tasks finished, now and then; may be empty.
  std::function<void(double now_s, std::size_t finished)> progress;
};

Outcome simulate(const core::TaskTable& tasks, const Platform& platform, const core::Policy& policy,
                 const Noise& noise, const SimulationOptions& options = {});

}  // namespace slackline::sim

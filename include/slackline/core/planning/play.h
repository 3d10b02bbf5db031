// play: the event loop around plan(), for the simulator and for forecasts.
//
//   queue of (time, kind, seq): arrival, finish, wake-up; arrivals first, in the order given
//   while it is not empty:
//      now = time of the first entry; take all entries up to now + 1e-6 in order
//      arrival: the task waits      finish: its GPUs are free      wake-up: nothing
//      call the policy once
//
// The finish of a run that was preempted stays queued; the policy is called at its time too. The
// queue is drained, except for wake-ups of a policy that has done nothing on an empty cluster for a
// day: tasks that still wait then can never be served.
#pragma once

#include <functional>
#include <vector>

#include "slackline/core/planning/plan.h"

namespace slackline::core {

enum class RunEvent { kStart, kFinish, kPreempt };

struct PlayHooks {
  // The true work time of the whole task in this placement; required. Plans do not see it.
  std::function<double(TaskIndex task, const Run& run)> work_s;
  // Called for everything that happens to runs, in order: finishes of a batch, then the plan's
  // effects.
  std::function<void(double now_s, RunEvent event, TaskIndex task, const Run& run)> on_event;
  // Called after every call of the policy; false ends the play.
  std::function<bool(double now_s)> go_on;
};

struct PlayOptions {
  std::optional<double> plan_at_s{};  // the policy is called then, before anything else
  // Above 0: events within this share of the time since the play began are one batch, at the time
  // of the last of them. Times far ahead need no minutes, and a long queue is planned less often.
  double resolution = 0;
};

// Tasks of `arrivals` arrive at their submit time, or once all those have finished that they come
// after (PlanTask::after); runs of the state end as work_s says.
// Returns the calls of the policy.
int play(PlanState& state, const Policy& policy, const std::vector<TaskIndex>& arrivals,
         const PlayHooks& hooks, const PlayOptions& options = {});

}  // namespace slackline::core

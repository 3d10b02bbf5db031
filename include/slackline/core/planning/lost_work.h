// The work that is lost if a run is stopped: what it did since its last checkpoint, and the
// start-up that it will need again. The one answer for policies, the preempt verb and the
// simulator.
//
// Pure. Times are seconds; none of the inputs needs to be sensible.
#pragma once

#include <optional>

#include "slackline/core/planning/task_list.h"

namespace slackline::core {

class PlanState;
struct Run;

// What is known of a run's checkpoints. The later of the first two counts, else the third.
struct SavedWork {
  double worked_s = 0;  // since it began to work; below 0 counts as 0
  // Since the last checkpoint, as the annotation last-checkpoint-time says. One before the start of
  // the run saves nothing of it; one that is still to come (below 0) does not count.
  std::optional<double> since_checkpoint_s{};
  std::optional<double> checkpoint_interval_s{};  // counted from the start; above 0
  std::optional<double> since_progress_s{};       // since the last report of progress
  double restart_s = 0;                           // start-up after the stop
};

// How long pods with that grace period hold their GPUs after a stop, as far as it counts: of a
// short one most need little, 0.
double lasting_grace_s(double grace_s);

// Seconds of work, from 0 to worked_s; without any checkpoint all of it. Not the restart.
double unsaved_s(const SavedWork& saved);

// GPU-seconds, never negative: the unsaved work and the restart on that many GPUs; 0 where that is
// no finite number.
double lost_gpu_s(const SavedWork& saved, double gpus);

// GPU-seconds that a run of a plan held in vain when it was stopped, start-up included: all but the
// work that stays, where `left` of the task, which takes work_s there, is left to do.
double wasted_gpu_s(const Run& ended, double work_s, double left, int gpus, double now_s);

// Of a run of a plan; the task must be running. One that loses nothing by a stop
// (PlanTask::checkpoint_s is 0) is as if it saved all the time.
SavedWork saved_work(const PlanState& state, TaskIndex task, double now_s);

}  // namespace slackline::core

// How far a planner believes what a run tells of its own progress, and of its end.
//
// What counts is a report of the present run. Since its start a run has done at most kMostSpeedup
// times the work that was predicted for that time, and its speed is at most so much above the
// prediction: a task does not get near its end by saying so. Slower than predicted may be any run.
//
// Pure.
#pragma once

#include <optional>

#include "slackline/core/cluster/queue.h"
#include "slackline/core/planning/plan_state.h"
#include "slackline/model/progress.h"

namespace slackline::core {

inline constexpr double kMostSpeedup = 2;

// Adds to the run of a placement what is believed of `note`; nothing of one before its start.
// `predicted_work_s`: of the whole task there; above 0, otherwise nothing is believed.
void believe_progress(const ProgressNote& note, double predicted_work_s, Run& run);

// It holds its GPUs until then, whatever it was to do: its pods end for good, or its Job ends it.
void believe_end(double end_s, double now_s, double predicted_work_s, Run& run);

// What is believed of its end; of one that is overdue, a little later than now. `lasts_s`:
// predicted, from start to end.
double believed_end_s(const Run& run, double lasts_s, double now_s);

// When a run ends that is in no pool, because its node is cordoned or has fewer GPUs than it holds:
// as its plan says and its Job has told since, not before now; epoch seconds. nullopt: not known.
std::optional<double> end_as_planned(const QueueTask& task, double now_s);

// What its earlier runs have done of its work; nullopt: there were none.
std::optional<double> done_before(const TaskProgress& progress);

// The share of its work that a task has done, for people: as its Job told of the present run, or of
// the last one where it waits; else what the last stop kept, and the elapsed share of the predicted
// time. nullopt: it has not run, or its length is unknown.
std::optional<double> done_share(const Queue& queue, TaskIndex index, double now_s);

}  // namespace slackline::core

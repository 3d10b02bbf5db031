// make_room: which running tasks stop so that one that is about to be lost can start
// (SavableFirst).
//
// Victims: runs that are not urgent, not promoted, may be preempted, have been so fewer than
// max_preempts times, and are protected no longer (protect; 60 s against an urgent asker). In
// order:
//
//   late        predicted to miss the deadline        by m x time since the start, least first
//   shrinkable  option `shrink`: still meets it on fewer GPUs of its first node
//                                                     most GPUs given up first
//   resumable   spare > gap x min(limit, base(asker)) + protect, where spare is what is left of its
//               deadline after a restart on its slowest placement
//                                                     most spare first
//
// then by id. For each placement of the asker in order of area (urgent: CER) within `limit`,
// victims are given back one by one until it fits; of those, the ones on its nodes are stopped or
// shrunk.
//
// Option `learn`: when a run ends and what it keeps follow the speed that it shows, after its first
// minute, in place of the predicted one.
//
// Option `trade`: what a stop throws away decides, in GPU-seconds: work since the last checkpoint,
// and a restart. Late and resumable runs go by it, least first, and are protected for 60 s only.
// Where they make no room for a task that is not urgent, one more victim is tried with them:
//
//   traded      would meet its deadline, but still holds more GPU-seconds than the asker's cheapest
//               run needs: one deadline is given up for another, and GPU time is won
//                                                     by what is lost - held, least first
#pragma once

#include <optional>

#include "planning.h"

namespace slackline::core {

// The placement that fits now, after its victims were stopped; nullopt, with nobody stopped, where
// there is none.
std::optional<ChoiceIndex> make_room(Planning& planning, const SavableOptions& options,
                                     double margin, TaskIndex asker, double limit_s);

}  // namespace slackline::core

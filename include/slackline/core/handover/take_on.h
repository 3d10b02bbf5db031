// take_on: the writes that give a plan to Jobs that run in part and have none. The plan of a Job
// that runs can go: its namespace lost its label for a moment, somebody wrote over the annotation,
// a backup brought the Job back. Without a plan a replacement of one of its pods would wait behind
// Slackline's gate for ever. A Job of which all pods are on nodes needs none: it may have been
// released on purpose.
//
// The plan names the nodes on which its pods are; a pod that is missing, or waits behind the gate,
// goes on as a replacement (hand_over.h). Only Jobs that Slackline queues and that start as a
// whole, or have one pod.
//
// Gangs of pods without a Job carry their plan on every pod: what their controller makes in the
// place of one that was lost gets it, too, within kMadeAgainWithin_s (holds.h), where it asks for
// as many GPUs. Pure; O(Jobs), and O(pods) where there is such a Job or a loss.
#pragma once

#include <vector>

#include "slackline/core/handover/begin_starts.h"
#include "slackline/model/own_write.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

// `snapshot` has own writes laid over it.
std::vector<OwnWrite> take_on(const ClusterSnapshot& snapshot, PlanStamp& stamp,
                              double now_steady_s, double now_wall_s);

}  // namespace slackline::core

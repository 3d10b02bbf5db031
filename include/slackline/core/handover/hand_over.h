// hand_over: the next writes that bring planned tasks through the stock kube-scheduler.
//
// Each task is advanced by the stage where it stands (hand_over_stage.h). Numbers in brackets are
// the rules of docs/RELIABILITY.md.
//
//   kReleased    Nothing is lifted before all pods of the task exist [3].
//   kIncomplete  The Job is suspended again, and backs off for 30 s doubling to 10 min [3].
//   kPlacing     Every pod is nominated to a node of the plan, or to another one of its GPU type
//                that replaces it; where there is none, the task goes back into the queue [8].
//                Once all nominations stand and are answered [4], and on API servers before 1.36
//                gated pods are pinned to their GPU type [5], the gates are lifted. While pods of
//                tasks that were stopped still hold the GPUs, the gates stay: the nominations keep
//                the room, and nobody else gets it [9]. A pod that lost its gate before it had a
//                plan is nominated like a gated one.
//   kLifted      kube-scheduler binds the pods.
//   kGivenUp     The Job is suspended again, unless its pods have nodes once they are read anew; a
//                pod without a Job is left alone [7].
//   kBound       The Job's backoff is over.
//
// Replacements of a running task's pods take their predecessors' nodes, or the next best; where one
// has no place after ten minutes, the Job is suspended again as a whole. A plan of
// a later epoch is left alone [2]. A nomination without a valid plan is cleared [6].
//
// Pure but for `memory`.
#pragma once

#include <unordered_set>
#include <vector>

#include "slackline/core/cluster/queue.h"
#include "slackline/core/handover/begin_starts.h"
#include "slackline/core/handover/hand_over_stage.h"
#include "slackline/model/own_write.h"
#include "slackline/model/reason.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

// Why a task was suspended again: not all pods appeared, because of a quota or for another reason.
using reason::kPodsRejected;
using reason::kQuotaExceeded;
// Why it was moved or suspended again: a planned node was lost; a pod was not bound in time.
using reason::kNodesLost;
using reason::kNotBound;

// `snapshot` has own writes laid over it; `unanswered` are the Jobs and pods whose writes may still
// fail. Plans that are moved get their numbers from `stamp`.
std::vector<OwnWrite> hand_over(const ClusterSnapshot& snapshot,
                                const std::unordered_set<Uid>& unanswered, HandOverMemory& memory,
                                PlanStamp& stamp, double now_steady_s, double now_wall_s);

}  // namespace slackline::core

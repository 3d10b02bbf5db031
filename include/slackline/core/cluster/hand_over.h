// hand_over: the next writes that bring planned tasks through the stock kube-scheduler.
//
// Where a task stands is read from the snapshot alone, so whoever reads it next goes on where the
// last one died:
//
//   Released --- all pods exist ---> PodsSeen --- every pod nominated ---> Nominated
//      |                                ^                                     | room verified
//      | 30 s                           | node lost, or nomination cleared    v
//      v                                +------------------------------- gates lifted
//   suspended again, backed off                                               |
//      ^                                     unbound for 30 s: moved          v
//      +---------- third miss --------------------------------------------  Lifted ---> Bound
//
// Numbers in brackets are the rules of docs/RELIABILITY.md.
//   - Nothing is lifted before all pods of a task exist that has none bound [3]; not complete in 30
//     s: suspended again, 30 s of backoff doubling to 10 min. The reason tells whether a quota is
//     full.
//   - Before gates are lifted every nomination of the task is read again, with its capacity [4]: a
//     nomination that somebody cleared is made again, a node that lost its room is replaced. One
//     that is sent stands once it is answered: it may still fail, and a lifted gate stays lifted.
//   - On API servers before 1.36 gated pods are pinned to their GPU type before they are lifted
//   [5].
//   - A nomination without a valid plan is cleared [6].
//   - A pod that had lost its gate before it had a plan is nominated like a gated one.
//   - A pod that is unbound 30 s after its gate went is nominated elsewhere, three times; then its
//     Job is suspended again, a pod without a Job left alone [7].
//   - A planned node that is gone, cordoned, unready or tainted is replaced by another one of the
//     GPU type; where there is none the task goes back into the queue [8].
//   - A plan of a later epoch is left alone [2].
// Replacements of a running task's pods take their predecessors' nodes, or the next best.
//
// Pure but for `memory`, which holds only what time tells: it is lost in a crash without harm.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "slackline/core/cluster/queue.h"
#include "slackline/model/own_write.h"
#include "slackline/model/reason.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

inline constexpr double kIncompleteAfter_s = 30;
inline constexpr double kUnboundAfter_s = 30;
inline constexpr int kMostMisses = 3;
inline constexpr double kLeastBackoff_s = 30;
inline constexpr double kMostBackoff_s = 600;

// Why a task was suspended again: not all pods appeared, because of a quota or of somebody else.
using reason::kPodsRejected;
using reason::kQuotaExceeded;
// Why it was moved or suspended again: a planned node was lost; a pod was not bound in time.
using reason::kNodesLost;
using reason::kNotBound;

struct HandOverMemory {
  struct Lifted {
    double since_s = 0;  // steady: without its gate, on its present nomination
    NodeName node;       // nominated last
    int misses = 0;
    bool to_move = false;  // it has missed that node, and is not nominated to another one yet
  };
  struct Backoff {
    double until_s = 0;  // steady
    double step_s = 0;
    std::string reason;
  };
  std::unordered_map<Uid, Lifted> lifted;    // by pod
  std::unordered_map<Uid, Backoff> backoff;  // by Job; goes once the Job runs
  // Until when all pods of a task must exist, steady; infinity once some were bound. By Job, or
  // "namespace/plan id".
  std::unordered_map<Uid, double> pods_due;

  // Jobs that may not be planned now.
  std::unordered_set<Uid> held_off(double now_steady_s) const;
  // When the next of them may be planned again; infinity where nobody is held off.
  double next_let_in_s(double now_steady_s) const;
};

// `snapshot` with own writes laid over it; `unanswered` are the Jobs and pods of those that may
// still fail. Plans that are moved get their numbers from `stamp`.
std::vector<OwnWrite> hand_over(const ClusterSnapshot& snapshot,
                                const std::unordered_set<Uid>& unanswered, HandOverMemory& memory,
                                PlanStamp& stamp, double now_steady_s);

}  // namespace slackline::core

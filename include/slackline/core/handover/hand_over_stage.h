// Stage: where a planned task stands on its way through the stock kube-scheduler. It is read from
// the snapshot and the memory of the hand-over, so whoever reads it next goes on where the last
// planner stopped.
//
//   kReleased -- all pods exist --> kPlacing -- gates lifted --> kLifted -- all bound --> kBound
//      |                               ^                           |  |
//      | 30 s                          |  unbound for 30 s, or     |  | third time, of a Job
//      v                               |  its node is lost         |  v
//   kIncomplete                        +---------------------------+ kGivenUp
//
// Pods without such a Job cannot be taken back. From the third time on they are moved only from
// nodes that kube-scheduler refused, and have twice as long on each, up to ten minutes.
//
// Where running tasks make room, two tasks go through it beside each other:
//
//   victim  kBound -- StopJob --> its Job is suspended, its pods end -- gone --> waits in the queue
//                        |        (queue: PodsEnding)             |
//                        | written                                | GPUs free
//                        v                                        v
//   asker             kReleased --> kPlacing, nominated: waits for the room --> gates lifted
//                                   (queue: WaitingForPreempted)  |
//                                                                 | grace + 60 s: not free
//                                                                 v
//                                                        back into the queue
//
// Pure values and functions; times are seconds on the steady clock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "slackline/core/cluster/queue.h"
#include "slackline/model/ids.h"
#include "slackline/model/snapshot.h"
#include "slackline/model/task_intent.h"

namespace slackline::core {

inline constexpr double kIncompleteAfter_s = 30;
inline constexpr double kUnboundAfter_s = 30;
inline constexpr int kMostMisses = 3;
inline constexpr double kRefusedFor_s = 600;
inline constexpr double kLeastBackoff_s = 30;
inline constexpr double kMostBackoff_s = 600;

// A task with a plan that is not over.
struct PlannedTask {
  Uid id;                    // the Job's, or "namespace/plan id"
  Uid name;                  // refused_as()
  const Job* job = nullptr;  // carries the plan; null: each pod does
  std::shared_ptr<const PlanNote> plan;
  std::vector<PodPtr> unbound;   // in the snapshot's order
  std::vector<NodeName> bound;   // nodes of the bound ones
  std::vector<PodPtr> carriers;  // the bound ones, where each pod carries the plan
  std::int64_t wanted = 0;       // pods that should exist
  // Unbound pods without a gate whose nominated node is gone or may not be used any more.
  std::unordered_set<Uid> on_lost_nodes;

  bool complete() const {
    return static_cast<std::int64_t>(unbound.size() + bound.size()) >= wanted;
  }
  // Nothing may happen to its pods before all of them exist. Those that carry the plan themselves
  // and were let go existed: another of them has another plan by now.
  bool waits_for_pods() const {
    return !complete() && bound.empty() &&
           (job != nullptr || std::any_of(unbound.begin(), unbound.end(),
                                          [](const PodPtr& pod) { return pod->gated; }));
  }
};

// What only time tells. Nothing is harmed when a crash loses it.
struct HandOverMemory {
  struct Lifted {
    double since_s = 0;  // without its gate, on its present nomination
    NodeName node;       // nominated last
    int misses = 0;
    bool to_move = false;  // it has missed that node, and is not nominated to another one yet
  };
  struct Backoff {
    double until_s = 0;
    double step_s = 0;
    std::string reason;
  };
  std::unordered_map<Uid, Lifted> lifted;  // by pod
  RefusedNodes refused;
  std::unordered_map<Uid, Backoff> backoff;  // by Job; goes once the Job runs
  // Until when all pods of a task must exist; infinity while some are bound. By task.
  std::unordered_map<Uid, double> pods_due;
  // Since when replacements are awaited while other pods of their task run. By task.
  std::unordered_map<Uid, double> replaces_since;

  // Forgets every task and pod that is not among these, and meets the new ones.
  void see(const std::vector<PlannedTask>& tasks, double now_s);
  // Since when the pods of a task have had no gate, and where they were nominated.
  void see_lifted(const PlannedTask& task, double now_s);
  // Counts the pods that were not bound in time, up to the one with which the task is given up.
  void count_misses(const PlannedTask& task, double now_s);

  // The pod was not bound where it was nominated, and has to move.
  bool missed(const Pod& pod, double now_s) const;
  // Now, and not counted yet.
  bool is_overdue(const Pod& pod, double now_s) const;
  int misses(const Pod& pod) const;
  // Its gate was lifted before it had a plan (queue.h).
  bool never_nominated(const Pod& pod) const;

  bool is_refused(const Uid& task, const NodeName& node, double now_s) const;
  RefusedNodes refused_nodes(const ClusterSnapshot& snapshot, double now_s) const;

  // Jobs that may not be planned now.
  std::unordered_set<Uid> held_off(double now_s) const;
  // When the next of them may be planned again, or on a node that refused it; infinity where
  // nothing is waited for.
  double next_let_in_s(double now_s) const;
};

enum class Stage : std::uint8_t {
  kReleased,    // not all pods exist yet
  kIncomplete,  // nor do they after 30 s
  kPlacing,     // pods need a node, or wait for their gate to be lifted
  kLifted,      // kube-scheduler may bind every unbound pod at any moment
  kGivenUp,     // a pod of a Job was not bound in time for the third time
  kBound,       // nothing is left to do
};

// Jobs in the snapshot's order, then the plans of pods without a Job that carries one.
std::vector<PlannedTask> planned_tasks(const ClusterSnapshot& snapshot);

// `memory` has seen the task.
Stage stage_of(const PlannedTask& task, const HandOverMemory& memory, double now_s);

// kube-scheduler may bind the pod at any moment, where it is nominated or elsewhere.
bool is_left_alone(const PlannedTask& task, const Pod& pod, const HandOverMemory& memory,
                   double now_s);

}  // namespace slackline::core

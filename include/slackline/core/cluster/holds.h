// Holds: GPUs that are promised to unbound pods. A pure function of the snapshot.
//
// A pod's nomination holds its requests on the nominated node, gated or not, for as long as it
// stands: kube-scheduler reserves for it too. A plan holds, for every further unbound member of its
// task, one of its nodes, in the plan's order, after the nodes on which members are bound or
// nominated are taken off; never more than the task's own unbound request. A plan's hold expires 60
// s after the later of first seeing its value and the task's last progress, on the steady clock. A
// suspended, finished or deleting Job and a terminal or deleting pod hold nothing, nor does a pod
// that has succeeded while its Job still counts it as active. Once a member on a node has failed or
// was deleted, the plan holds its place for the replacement, for ten minutes; that of a gang of
// pods without a Job, whose controller does not say whether it makes another one, for half a
// minute. A plan that was never seen is not timed yet: it holds. Where a pod of a Job whose pods
// start one by one has succeeded and the Job has more to do, its place is held for the next one for
// ten seconds, or until the Job's controller has made it: then it waits its turn as others do.
//
// A hold counts for pods of equal or lower rank (spec.priority; a Job without pods has its
// template's) and never for the pods of its own task or gang.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "slackline/model/snapshot.h"

namespace slackline::core {

inline constexpr double kPlanHold_s = 60.0;
// How long the place of a member that was lost is its replacement's, be the Job's back-off as it
// may.
inline constexpr double kReplacedWithin_s = 600.0;
inline constexpr double kMadeAgainWithin_s = 30.0;
inline constexpr double kNextPodWithin_s = 10.0;

// The whole table; each node's holds are in a fixed order. Does not read `snapshot.holds`.
HoldTable derive_holds(const ClusterSnapshot& snapshot);

// Pods that have succeeded and whose places are those of the next pods of their Jobs, which are not
// there yet. By Job, the last one first.
std::vector<const SucceededPod*> followed_by_others(const ClusterSnapshot& snapshot);

// When the next hold ends of those that do; kNever: none. Steady.
double next_hold_ends_s(const ClusterSnapshot& snapshot, double now_steady_s);

// The plan that binds the pod now; nullptr when it has none, or it has expired, or its Job is
// suspended or finished.
const PlanNote* live_plan(const ClusterSnapshot& snapshot, const Pod& pod, double now_steady_s);

// Others of the pod's gang, which is of pods without a Job, were lost then and may be made again;
// null: none, or it does not run.
const PlanSighting* seen_losses(const ClusterSnapshot& snapshot, const Pod& pod);

// A member of any task was lost later than that; steady.
bool any_losses(const ClusterSnapshot& snapshot, double after_s);

// Who a pod's holds are held for: what a hold must not have in common with a pod to count against
// it.
struct HoldIdentity {
  // Of the topmost controller we know, or of the gang that one makes; else the pod's own.
  Uid task;
  std::string gang;  // "namespace/gang" of a labelled gang; empty otherwise
};
HoldIdentity hold_identity(const ClusterSnapshot& snapshot, const Pod& pod);
// The same where the pod's Job is known; null: it has none.
HoldIdentity hold_identity(const Pod& pod, const Job* job);

// The holds as one pod meets them. Built once per request, asked per node; keeps references to the
// snapshot and the pod. Node indices must be valid.
class HoldView {
 public:
  HoldView(const ClusterSnapshot& snapshot, const Pod& pod, double now_steady_s);

  // A live hold of somebody else with the pod's rank or a higher one.
  bool counts(const Hold& hold) const;
  // All holds on the node, whether they count or not.
  std::span<const Hold> on(NodeIndex node) const { return snapshot_.holds_on(node); }
  // The sum of those that count.
  Resources against(NodeIndex node) const;

 private:
  const ClusterSnapshot& snapshot_;
  const Pod& pod_;
  double now_steady_s_;
  HoldIdentity self_;
};

// HoldView(...).against(node), for one question.
Resources held_against(const ClusterSnapshot& snapshot, NodeIndex node, const Pod& pod,
                       double now_steady_s);

}  // namespace slackline::core

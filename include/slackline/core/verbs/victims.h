// choose_victims: the preempt verb of the extender.
//
// On each offered node, the victims that lose the least work and are no more than needed.
// Candidates are the pods on the node with a lower priority than the preemptor's that are not
// terminating; the pod fits when CPU, memory, pods and GPUs free after eviction, minus holds of
// equal or higher rank, cover its request. Key, smallest wins: PDB violations, highest victim
// priority, lost GPU-seconds, GPUs freed, number of victims, their uids. Exact for up to 12 pods
// that free something needed, greedy and pruned beyond; either way no victim can be left out.
//
// Of the nodes that were judged so, those whose set is the least by violations, priority and lost
// GPU-seconds are answered. kube-scheduler would choose by the number of victims among all of them.
//
// Lost GPU-seconds: core/planning/lost_work.h; evicting a member of a task that starts as a whole
// loses the whole task's.
//
// The offered set stays as it came, without pods that terminate already, if the preemption is not
// only about GPUs: the preemptor has host ports, inter-pod affinity or volume claims, an offered
// victim holds no GPU, the cache shows room without any eviction, or the cache is not trusted.
//
// A node is also left out when it is unknown or unreadable, when its GPU type is not accepted, or
// when no sensible set remains. A pod with a live plan gets the empty answer: only the planner
// makes room for it. If asked to stop, choose_victims returns every node as it was offered.
#pragma once

#include "slackline/base/stop.h"
#include "slackline/core/cluster/situation.h"
#include "slackline/model/extender_messages.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

// Without a predictor the start-up of victims is not counted.
struct PreemptOptions : Situation {
  StopAsked stop{};  // asked before every node
};

// A subset of the offered nodes in their order; every returned node has at least one victim, sorted
// by priority descending, start time, uid. PDB violations as kube-scheduler counts them; for an
// unchanged set never fewer than it counted.
PreemptReply choose_victims(const ClusterSnapshot& snapshot, const PreemptRequest& request,
                            const PreemptOptions& options);

}  // namespace slackline::core

// The queue of a cluster in which nobody holds tasks back: the tasks that wait for kube-scheduler,
// as if they waited for Slackline's planner. So shadow mode and dumps show what the planner would
// do.
//
// It considers objects with a key of Slackline (an annotation, the queue label) or with its label:
// while the webhook is inert, nothing else shows which objects active mode would manage. Nobody
// else may hold them: no plan, no foreign gate, no controller but a CronJob.
//   a Job that starts as a whole (a gang, or one pod), none of whose pods is bound: it counts as
//     suspended by Slackline, without pods
//   any other pod that waits: it counts as gated
// Objects that are suspended or gated already, or run, stay as they are.
#pragma once

#include "slackline/model/snapshot.h"

namespace slackline::core {

// The pods of the Job start together, and active mode would queue it as one task: whether it waits,
// runs or has ended.
bool queues_as_one(const Job& job);

// The Job as the webhook of active mode would have left it.
JobPtr as_waiting(const Job& job);

// O(pods + Jobs). Version, nodes and holds are those of `snapshot`.
ClusterSnapshot with_stock_queue(const ClusterSnapshot& snapshot);

}  // namespace slackline::core

// The queue of a cluster in which nobody holds tasks back: what waits for kube-scheduler, as if it
// waited with us. So shadow mode, and a dump, show what the planner would do.
//
// Looked at is what names a key of ours (an annotation, the queue label) or carries our label: with
// the webhook inert nothing else tells what active mode would look after. Held by nobody else: no
// plan, no foreign gate, no controller but a CronJob.
//   a Job that starts as a whole (a gang, or one pod), none of whose pods is bound: it is suspended
//     by us, and its pods are not there yet
//   any other pod that waits: it is behind our gate
// What is suspended or gated already, and what runs, stays as it is.
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

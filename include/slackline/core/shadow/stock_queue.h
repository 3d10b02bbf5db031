// The queue of a cluster in which nobody holds tasks back: the tasks that wait for kube-scheduler,
// as if they waited for Slackline's planner. So shadow mode and dumps show what the planner would
// do.
//
// It considers objects of managed namespaces, those with a key of Slackline (an annotation, the
// queue label) or with its label, and by StockScope::kAll all others. Nobody else may hold them: no
// plan, no foreign gate, no Kueue, no scheduler that does not ask Slackline.
//   a Job that starts as a whole (a gang, or one pod), none of whose pods is bound, and that has no
//     controller but a CronJob: it counts as suspended by Slackline, without pods
//   such a Job that somebody has suspended: it counts as managed, so that it is held by its user
//   any other pod that waits, with kAll whoever controls it: it counts as gated. Those that a
//     controller makes as a gang (docs/GANGS.md) wait as one task
// What is gated already, or runs, stays as it is.
#pragma once

#include "slackline/model/snapshot.h"

namespace slackline::core {

enum class StockScope { kManaged, kAll };

// The pods of the Job start together, and active mode would queue it as one task: whether it waits,
// runs or has ended.
bool queues_as_one(const ClusterSnapshot& snapshot, const Job& job, StockScope scope);

// The Job as the webhook of active mode would have left it.
JobPtr as_waiting(const Job& job);

// O(pods + Jobs). Version, nodes and holds are those of `snapshot`.
ClusterSnapshot with_stock_queue(const ClusterSnapshot& snapshot, StockScope scope);

}  // namespace slackline::core

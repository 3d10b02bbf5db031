// The tasks of a cluster, derived from its pods and Jobs.
#pragma once

#include <optional>
#include <vector>

#include "slackline/model/snapshot.h"
#include "slackline/model/task.h"

namespace slackline::core {

// Every task that asks for GPUs and is not over: labelled gangs, topmost controllers (a Job's
// JobSet, but not its CronJob), bare pods. Sorted by (key, kind). O(pods log pods).
std::vector<Task> derive_tasks(const ClusterSnapshot& snapshot);

// By namespace and name; where a Job, another controller, a gang and a pod share a name, in that
// order.
std::optional<Task> find_task(const ClusterSnapshot& snapshot, const ObjectKey& key);

// How many pods start together with this one: a gang's size, 1 where it stands alone.
std::int64_t gang_pods(const ClusterSnapshot& snapshot, const Pod& pod, const TaskIntent& intent);

}  // namespace slackline::core

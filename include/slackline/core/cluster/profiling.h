// Where tasks of which nothing is known should run: on nodes with the label
// slackline.dev/profiler=true, which people set aside for them. They are preferred, not
// required, and serve every task when they are free.
#pragma once

#include "slackline/core/cluster/situation.h"
#include "slackline/model/snapshot.h"
#include "slackline/model/task_intent.h"

namespace slackline::core {

// No throughput model of its own predicts it on any GPU type of the cluster, and its family has no
// portrait (core/portrait/book.h). `job` null: a pod without a Job, which has none. One question
// for every GPU type: ask only where NodeTable::any_profiler.
bool is_unknown_task(const ClusterSnapshot& snapshot, const Situation& situation,
                     const TaskIntent& intent, const Job* job);

}  // namespace slackline::core

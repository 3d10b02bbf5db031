// Which runs of the queue are not stopped so that others start, and why: the rules of the planner
// itself, for whoever asks, and for the planner.
#pragma once

#include <vector>

#include "slackline/core/cluster/budgets.h"
#include "slackline/core/cluster/queue.h"
#include "slackline/core/planning/policy.h"
#include "slackline/model/spared.h"

namespace slackline::core {

// A pod that no others need, and that its controller makes again once it was evicted.
bool comes_back(const QueueTask& task);
// A planned one that runs.
bool runs_alone(const QueueTask& task);

// Whether a run could be stopped at all, whatever for: by what it is, and where it stands.
Spared spared_as_run(const QueueTask& run, const StopBook* book);
// The same, and by its queue and by disruption budgets: not for others, but for owners in the end.
Spared spared_for_others(const QueueTask& run, const QueueRules& rules, const StopBook* book,
                         const Disruptions& disruptions);

// By task; kNo of those that wait. First what is said above, then what spared_by (spared_by.h) says
// of the policy, with all that it leaves to the asker. `options`: by which the queue was made;
// without near_ends a run counts as near its end for as long as it is.
std::vector<Spared> spared_runs(const ClusterSnapshot& snapshot, const QueueOptions& options,
                                const Queue& queue, const Policy& policy);

}  // namespace slackline::core

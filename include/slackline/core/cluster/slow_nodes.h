// SlowNodes: nodes on which task after task runs slower than predicted.
//
// What a run says of its nodes, once it has lasted or was predicted to last as long as a run must
// be slow (`window_s`): one that succeeded, by its time against what its plan predicted; one that
// runs, by the speed that it reports (run_speeds.h); and one that was moved away because it was
// slow, by its Job's note. A task that was slow on the next nodes, too, is slow itself and says
// nothing. Each task says one thing of a node, in the order of time.
//
// A node is slow whose last kSlowRuns tasks were. It is read from the objects that the API server
// has: a planner that starts knows at once what the last one knew, except the speeds of running
// tasks, and a node whose Jobs are deleted gets another chance.
//
// Pure. Times are epoch seconds.
#pragma once

#include <cstddef>
#include <unordered_map>
#include <unordered_set>

#include "slackline/core/cluster/run_speeds.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

inline constexpr std::size_t kSlowRuns = 3;

// By Job: the speeds of running tasks.
using SpeedsByJob = std::unordered_map<Uid, RunSpeed>;

std::unordered_set<NodeName> slow_nodes(const ClusterSnapshot& snapshot, const SpeedsByJob& running,
                                        double window_s);

}  // namespace slackline::core

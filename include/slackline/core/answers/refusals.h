// What kube-scheduler has refused to a task (core/cluster/refused_nodes.h), and what that leaves.
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "slackline/core/answers/explain.h"
#include "slackline/core/cluster/queue.h"

namespace slackline::core {

// Null: nothing. `refused` may be null, too.
const TaskRefusals* refusals_of(const ClusterSnapshot& snapshot, const RefusedNodes* refused,
                                const QueueTask& task);

// When the first of them is tried again; steady.
double first_again_s(const TaskRefusals& refusals);

// Nodes for the shape of a task that needs the fewest.
struct NodesLeft {
  std::int64_t need = 0;
  std::int64_t have = 0;  // that are not refused
};

// Of a task that waits. Set where only the refusals leave it too few nodes, full ones not counted
// as such.
std::optional<NodesLeft> lacking_nodes(const ClusterSnapshot& snapshot, const Queue& queue,
                                       TaskIndex task, const RefusedNodes* refused);

// "0/3 nodes are available: 3 node(s) didn't match pod anti-affinity rules."
std::string shortened(const Refusal& refusal);

// NotBound, with the nodes, the words, and when each node is tried again; nullopt: nothing is
// refused. Also of a task that starts.
std::optional<Blocker> blocking_refusals(const ExplainQuestion& question);

}  // namespace slackline::core

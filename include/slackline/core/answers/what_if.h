// what_if: the forecast of everybody in the queue as it is, and as it would be after a change of
// the cluster or of the policy: who gains, and who loses.
//
// Pure; times are epoch seconds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slackline/core/cluster/queue.h"
#include "slackline/core/planning/forecast_book.h"
#include "slackline/model/gpu_catalog.h"

namespace slackline::core {

// What somebody may do to the cluster.
struct AddedNodes {
  int nodes = 1;
  GpuType gpu_type;
  int gpus_per_node = 1;
};

// The node that others of the type are added like, a usable one if there is one; null: none is
// there.
const Node* similar_node(const ClusterSnapshot& snapshot, const GpuType& type,
                         const std::string& resource);

// Those that nodes like it would have: not what Kubernetes says of this one, that it is cordoned,
// not ready, out of memory.
std::vector<Taint> lasting_taints(const Node& node);

// Nodes with the resource, CPU and memory per GPU, labels and taints of the similar node; else with
// 8 CPUs and 64 GiB per GPU under `resource`. In place of real ones, for planning only.
ClusterSnapshot with_nodes(const ClusterSnapshot& snapshot, const AddedNodes& added,
                           const std::string& resource);

// The state after `kubectl drain`: the tasks on these nodes are stopped and wait again, the pods of
// others are gone, and nobody gets the nodes' GPUs. O(tasks x nodes of each).
PlanState drained(const Queue& queue, const std::vector<NodeIndex>& nodes, double now_s);

// As it is told (told_forecast.h).
struct Outlook {
  Uid name;
  TaskIndex task = 0;  // of the queue before
  Forecast before;
  Forecast after;
};

struct Comparison {
  std::vector<Outlook> tasks;  // that are in both, in the order of the queue before
  bool complete = false;       // false: it was stopped
};

struct ComparedState {
  const PlanState& state;
  const Policy& policy;
  const std::vector<Uid>& names;  // as in ForecastBook
  const Expected& expected;
  const Queue& queue;  // in which the state's tasks have their index
};

Comparison compare(const ComparedState& before, const ComparedState& after, double now_s,
                   const StopAsked& stop);

}  // namespace slackline::core

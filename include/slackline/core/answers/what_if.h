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

// Nodes like those of the type that are there: their resource, CPU and memory per GPU, labels and
// taints; else 8 CPUs and 64 GiB per GPU under `resource`. In place of real ones, for planning
// only.
ClusterSnapshot with_nodes(const ClusterSnapshot& snapshot, const AddedNodes& added,
                           const std::string& resource);

// The state after `kubectl drain`: the tasks on these nodes are stopped and wait again, the pods of
// others are gone, and nobody gets the nodes' GPUs. O(tasks x nodes of each).
PlanState drained(const Queue& queue, const std::vector<NodeIndex>& nodes, double now_s);

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
};

Comparison compare(const ComparedState& before, const ComparedState& after, double now_s,
                   const StopAsked& stop);

}  // namespace slackline::core

// The tasks whose use is asked for: which pods, how many GPUs, since when.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "slackline/model/gpu_catalog.h"
#include "slackline/model/ids.h"
#include "slackline/model/snapshot.h"
#include "telemetry/window.h"

namespace slackline::telemetry {

struct MeasuredPod {
  std::string name;          // in the task's namespace
  std::int64_t gpus = 0;     // that it asks for: whole ones or parts
  bool shares_gpus = false;  // its GPUs are those of other pods, too, by what its node says
  Window window{0, std::numeric_limits<double>::infinity()};  // that it ran
};

struct MeasuredTask {
  ObjectKey task;
  Uid run;        // of its Job, or of its pod
  Window window;  // what of the time asked for is its own
  std::vector<MeasuredPod> pods;
};

// Whether pods on such a node have its GPUs together: time-slicing and MPS; nvidia's device plugin
// marks the product of such a node "-SHARED".
bool marks_shared(const GpuType& node_type);

// The tasks with GPUs that run in the cluster, by name: bound pods that have started, those of one
// Job together. Each since its first pod's start, up to `to_s`.
std::vector<MeasuredTask> running_tasks(const ClusterSnapshot& snapshot, const GpuCatalog& catalog,
                                        double to_s);

}  // namespace slackline::telemetry

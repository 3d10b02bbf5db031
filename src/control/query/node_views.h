// How nodes and tasks look to a person: filled from a snapshot, no decision in it.
#pragma once

#include <vector>

#include "message/views.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/snapshot.h"
#include "slackline/model/task.h"

namespace slackline::control {

// Live holds count as held; `now_steady_s` says which are live.
std::vector<GpuUseView> gpu_use(const ClusterSnapshot& snapshot, NodeIndex index,
                                const GpuCatalog& catalog, double now_steady_s);

NodeView node_view(const ClusterSnapshot& snapshot, NodeIndex index, const GpuCatalog& catalog,
                   double now_steady_s);

// Pools by GPU type, the nameless one last.
std::vector<GpuPoolView> pool_views(const ClusterSnapshot& snapshot, const GpuCatalog& catalog,
                                    double now_steady_s);

TaskView task_view(const Task& task, std::optional<double> deadline_s);

}  // namespace slackline::control

// What people see of nodes and tasks: read from a snapshot, no decision in it.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "message/views.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/snapshot.h"
#include "slackline/model/task.h"

namespace slackline::control {

// Live holds count as held; `now_steady_s` says which are live.
std::vector<GpuUseView> gpu_use(const ClusterSnapshot& snapshot, NodeIndex index,
                                const GpuCatalog& catalog, double now_steady_s);

// The rows of nodes, of one snapshot at one moment; keeps references.
class NodeLister {
 public:
  // `schedulers`: the names of those that ask Slackline; empty: all.
  NodeLister(const ClusterSnapshot& snapshot, const GpuCatalog& catalog,
             const std::vector<std::string>& schedulers, double now_steady_s);

  ListedNode row(NodeIndex index) const;

 private:
  std::vector<GpuOccupantView> occupants(NodeIndex index) const;
  std::string placed_by(const Pod& pod) const;
  void add_hold(const Hold& hold, std::vector<GpuOccupantView>& to) const;

  const ClusterSnapshot& snapshot_;
  const GpuCatalog& catalog_;
  const std::vector<std::string>& schedulers_;
  const double now_steady_s_;
  // For the names of whom something is held for.
  std::unordered_map<Uid, const Pod*> unbound_;
  std::unordered_map<Uid, const Job*> jobs_;
};

// Pools by GPU type, the nameless one last.
std::vector<GpuPoolView> pool_views(const ClusterSnapshot& snapshot, const GpuCatalog& catalog,
                                    double now_steady_s);

ListedTask listed_task(const ClusterSnapshot& snapshot, Task task,
                       std::optional<double> deadline_s);

}  // namespace slackline::control

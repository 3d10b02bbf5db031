// Tasks that no present node could ever run (docs/RELIABILITY.md, rule 8). Where their queue has
// scaleUp, tasks of one pod are released without a nomination, because a cluster autoscaler ignores
// nominated pods; a gang that an autoscaler served pod by pod might only start in part.
//
// Every node of the cluster is present, full, cordoned and unready ones too: those may come back.
#pragma once

#include <map>
#include <string>

#include "slackline/core/cluster/queue.h"

namespace slackline::core {

class PresentNodes {
 public:
  // Both outlive it.
  PresentNodes(const ClusterSnapshot& snapshot, const GpuCatalog& catalog)
      : snapshot_(snapshot), catalog_(catalog) {}

  // Whether they could run the task in a shape that it allows, if they were empty. Computed once
  // for all tasks of the same `kind`, which names what their members may use.
  bool could_run(const QueueTask& task, const std::string& kind);

 private:
  bool find(const QueueTask& task) const;

  const ClusterSnapshot& snapshot_;
  const GpuCatalog& catalog_;
  std::map<std::string, bool> known_;
};

}  // namespace slackline::core

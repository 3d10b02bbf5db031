// The runs of GPU pods that no plan of ours placed: started before us, by other schedulers, in
// other namespaces. Forecasts know by them when GPUs become free; plans do not ask.
//
// A pod is a run of its own on its node. How long it takes in all is predicted for its gang's shape
// on the node's GPU type, else it is what its `expected-duration` says; both counted from its
// start. Where it says neither nobody knows: it is taken to run as long again as it has,
// kUnknownRun_s in all at the least, with an error to match.
#pragma once

#include <vector>

#include "slackline/core/cluster/queue.h"

namespace slackline::core {

struct OtherRun {
  PoolNode node = 0;
  double started_s = 0;  // epoch
  Estimate estimate;     // of the whole run; tells the pool and the GPUs
  bool known = true;     // false: nobody knows how long it takes
};

// Of pods on nodes of the pools, in the order of the snapshot. Some only, once options.stop says
// yes.
std::vector<OtherRun> find_other_runs(const ClusterSnapshot& snapshot,
                                      const std::vector<QueuePool>& pools,
                                      const QueueOptions& options);

}  // namespace slackline::core

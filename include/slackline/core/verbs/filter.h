// filter_nodes: which of the nodes that passed kube-scheduler's own filters may take the pod.
//
// Per node, first rule that applies:
//   1. Not in the cache: pass; kNotYetObserved for resources that only Slackline counts.
//   2. Unreadable, a GPU type that gpu-types does not list, or fewer GPUs in all than one pod asks
//      for: unresolvable.
//   3. The pod has a live plan: pass on its nodes, elsewhere kNotPlanned.
//   4. Resources that only Slackline counts: enough must be free, less the binds in flight, else
//      kInsufficientGpus.
//   5. Foreign holds of equal or higher rank: free minus them must be enough, else kHeldForOthers.
//      A node without such holds passes, because NodeResourcesFit is fresher than the cache.
//
// An unmanaged pod is rejected by a hold only if another requested node passes. An untrusted cache
// passes everything. So does a filter that is asked to stop: its verdicts so far are dropped.
//
// Pure; no allocation per node without holds.
#pragma once

#include <span>

#include "slackline/base/stop.h"
#include "slackline/core/cluster/binds_in_flight.h"
#include "slackline/core/cluster/situation.h"
#include "slackline/model/extender_messages.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

// Far less than a millisecond of judging.
inline constexpr std::size_t kNodesPerAsk = 256;

struct FilterOptions : Situation {
  std::span<const TakenShares> taken = {};  // by binds in flight, of self-accounted resources
  StopAsked stop{};                         // asked every kNodesPerAsk nodes
};

// One verdict per requested node, in the order of the request. `error` is set only when there is no
// answer: an unreadable pod, or self-accounted resources while the cache is untrusted or there is
// no time.
FilterReply filter_nodes(const ClusterSnapshot& snapshot, const NodesRequest& request,
                         const FilterOptions& options);

}  // namespace slackline::core

// filter_nodes: which of the nodes that passed kube-scheduler's own filters may take the pod.
//
// Per node, first rule that applies:
//   1. not in our cache: pass; for resources that we alone account, kNotYetObserved.
//   2. unreadable, a GPU type that gpu-types does not list, fewer GPUs in all than one pod asks
//   for:
//      unresolvable.
//   3. the pod has a live plan: pass on its nodes, elsewhere kNotPlanned.
//   4. resources that we alone account: free must be there, less the binds in flight
//      (kInsufficientGpus).
//   5. foreign holds of equal or higher rank: free minus them must be enough (kHeldForOthers). A
//   node
//      without such holds passes, because NodeResourcesFit is fresher than our cache.
// An unmanaged pod is rejected by a hold only if another requested node passes.
// An untrusted cache passes everything, and so does a filter that is asked to stop: nothing is kept
// of what it had judged.
//
// Pure; no allocation per node without holds.
#pragma once

#include <span>

#include "slackline/base/stop.h"
#include "slackline/core/cluster/binds_in_flight.h"
#include "slackline/model/extender.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

// Far less than a millisecond of judging.
inline constexpr std::size_t kNodesPerAsk = 256;

struct FilterOptions {
  const GpuCatalog* catalog = nullptr;      // required
  bool trusted = true;                      // CacheHealth::trusted()
  double now_steady_s = 0;                  // holds expire by it
  std::span<const TakenShares> taken = {};  // by binds in flight, of what we alone account; by node
  StopAsked stop{};                         // asked every kNodesPerAsk nodes
};

// One verdict per requested node, in the order of the request. `error` is set only when we cannot
// answer: an unreadable pod, or self-accounted resources while the cache is untrusted or there is
// no time.
FilterReply filter_nodes(const ClusterSnapshot& snapshot, const NodesRequest& request,
                         const FilterOptions& options);

}  // namespace slackline::core

// NodeFit: one pod against the rows of the snapshot's node table. Private to src/core.
//
// Built once per request, asked per node without an allocation; keeps references to the snapshot
// and the pod. The node's index must be valid. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "slackline/core/cluster/binds_in_flight.h"
#include "slackline/core/cluster/holds.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/model/snapshot.h"
#include "slackline/model/verdict.h"

namespace slackline::core {

// What a node has left for the pod; negative if the cache says "full".
struct NodeRoom {
  std::int64_t gpus = 0;        // allocatable, of the resources that the pod asks for
  std::int64_t gpus_after = 0;  // of these, less pods, holds and the pod itself
  std::int64_t cpu_milli = 0;   // less pods and holds
  std::int64_t memory_bytes = 0;
};

class NodeFit {
 public:
  NodeFit(const ClusterSnapshot& snapshot, const Pod& pod, const TaskIntent& intent,
          const GpuCatalog& catalog, double now_steady_s);

  const AcceptedTypes& accepted() const { return accepted_; }
  const HoldView& holds() const { return holds_; }
  const NodeRow& row(NodeIndex node) const { return table_.rows[node]; }

  // kPass, or why nothing on the node can ever make room for the pod.
  Verdict lasting(NodeIndex node) const {
    const NodeRow& row = table_.rows[node];
    if (!row.readable) return Verdict::kNodeUnreadable;
    if (!passes(by_type_[row.type])) return by_type_[row.type];
    for (const Asked& asked : asked_)
      if (asked.count > 0 && asked.count > asked.on(node).allocatable)
        return Verdict::kNodeTooSmall;
    return Verdict::kPass;
  }
  // Whether the pod asks for a resource that only Slackline counts, and whether enough of it is
  // free.
  bool self_accounted() const { return self_accounted_; }
  // Less `taken`, which the snapshot does not show, sorted by node.
  bool own_account_covers(NodeIndex node, std::span<const TakenShares> taken = {}) const;
  // Whether the pod's request is free, less the holds of others; true without holds.
  bool fits_beside_holds(NodeIndex node) { return !add_up_holds(node) || fits_beside_held(node); }
  NodeRoom room(NodeIndex node);

 private:
  // One of the pod's GPU resources.
  struct Asked {
    std::string_view resource;
    std::int64_t count = 0;
    bool self_accounted = false;
    const std::vector<GpuCell>* cells = nullptr;  // null: no node has it

    GpuCell on(NodeIndex node) const { return cells == nullptr ? GpuCell{} : (*cells)[node]; }
  };

  // False where no hold counts.
  bool add_up_holds(NodeIndex node) {
    const std::span<const Hold> holds = holds_.on(node);
    return !holds.empty() && add_up(holds);
  }
  bool add_up(std::span<const Hold> holds);
  bool fits_beside_held(NodeIndex node) const;
  Verdict judge_type(const GpuType& type) const;

  const NodeTable& table_;
  const Resources& requests_;
  AcceptedTypes accepted_;
  HoldView holds_;
  std::vector<Asked> asked_;
  std::vector<Verdict> by_type_;  // by NodeRow::type
  bool self_accounted_ = false;

  // For the node of the last call of add_up_holds().
  Resources held_;                       // without `gpus`
  std::vector<std::int64_t> held_gpus_;  // as asked_
};

}  // namespace slackline::core

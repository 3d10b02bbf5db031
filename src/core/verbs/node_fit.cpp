#include "node_fit.h"

#include <algorithm>

#include "slackline/base/saturating.h"

namespace slackline::core {

NodeFit::NodeFit(const ClusterSnapshot& snapshot, const Pod& pod, const TaskIntent& intent,
                 const GpuCatalog& catalog, double now_steady_s)
    : table_(snapshot.node_table),
      requests_(pod.requests),
      accepted_(intent, catalog),
      holds_(snapshot, pod, now_steady_s) {
  for (const ResourceAmount& amount : requests_.gpus) {
    const GpuResourceRule* rule = catalog.resource(amount.resource);
    const bool ours = amount.count > 0 && rule != nullptr && rule->self_accounted;
    asked_.push_back({amount.resource, amount.count, ours, table_.cells(amount.resource)});
    self_accounted_ = self_accounted_ || ours;
  }
  held_gpus_.resize(asked_.size());
  for (const GpuType& type : table_.types)
    by_type_.push_back(judge_type(type));
}

Verdict NodeFit::judge_type(const GpuType& type) const {
  const bool wants_gpus =
      std::any_of(asked_.begin(), asked_.end(), [](const Asked& asked) { return asked.count > 0; });
  if (!wants_gpus || accepted_.preference(type)) return Verdict::kPass;
  return type.empty() ? Verdict::kGpuTypeUnknown : Verdict::kGpuTypeNotAccepted;
}

bool NodeFit::own_account_covers(NodeIndex node, std::span<const TakenShares> taken) const {
  const auto here = std::ranges::equal_range(taken, node, {}, &TakenShares::node);
  return std::all_of(asked_.begin(), asked_.end(), [&](const Asked& asked) {
    if (!asked.self_accounted) return true;
    std::int64_t free = asked.on(node).free;
    for (const TakenShares& shares : here)
      free = saturating_sub(free, shares.amount.gpu_count(asked.resource));
    return asked.count <= free;
  });
}

bool NodeFit::add_up(std::span<const Hold> holds) {
  bool any = false;
  for (const Hold& hold : holds) {
    if (!holds_.counts(hold)) continue;
    if (!any) {
      held_.cpu_milli = held_.memory_bytes = held_.pods = 0;
      std::fill(held_gpus_.begin(), held_gpus_.end(), 0);
      any = true;
    }
    held_.cpu_milli = saturating_add(held_.cpu_milli, hold.amount.cpu_milli);
    held_.memory_bytes = saturating_add(held_.memory_bytes, hold.amount.memory_bytes);
    held_.pods = saturating_add(held_.pods, hold.amount.pods);
    for (std::size_t i = 0; i < asked_.size(); ++i)
      held_gpus_[i] = saturating_add(held_gpus_[i], hold.amount.gpu_count(asked_[i].resource));
  }
  return any;
}

bool NodeFit::fits_beside_held(NodeIndex node) const {
  const auto covers = [](std::int64_t free, std::int64_t held, std::int64_t wanted) {
    return wanted <= 0 || wanted <= saturating_sub(free, held);
  };
  const NodeRow& row = table_.rows[node];
  if (!covers(row.cpu_milli_free, held_.cpu_milli, requests_.cpu_milli) ||
      !covers(row.memory_bytes_free, held_.memory_bytes, requests_.memory_bytes) ||
      !covers(row.pods_free, held_.pods, requests_.pods))
    return false;
  for (std::size_t i = 0; i < asked_.size(); ++i)
    if (!covers(asked_[i].on(node).free, held_gpus_[i], asked_[i].count)) return false;
  return true;
}

NodeRoom NodeFit::room(NodeIndex node) {
  const NodeRow& row = table_.rows[node];
  const bool held = add_up_holds(node);
  NodeRoom room;
  room.cpu_milli = held ? saturating_sub(row.cpu_milli_free, held_.cpu_milli) : row.cpu_milli_free;
  room.memory_bytes =
      held ? saturating_sub(row.memory_bytes_free, held_.memory_bytes) : row.memory_bytes_free;
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const GpuCell cell = asked_[i].on(node);
    const std::int64_t free = held ? saturating_sub(cell.free, held_gpus_[i]) : cell.free;
    room.gpus = saturating_add(room.gpus, cell.allocatable);
    room.gpus_after = saturating_add(room.gpus_after, saturating_sub(free, asked_[i].count));
  }
  return room;
}

}  // namespace slackline::core

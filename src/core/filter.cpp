#include "slackline/core/filter.h"

#include <algorithm>
#include <optional>

#include "node_lookup.h"
#include "slackline/base/saturating.h"
#include "slackline/core/holds.h"

namespace slackline::core {
namespace {

class NodeFilter {
 public:
  NodeFilter(const ClusterSnapshot& snapshot, const Pod& pod, const FilterOptions& options)
      : snapshot_(snapshot),
        pod_(pod),
        accepted_(effective_intent(snapshot, pod), *options.catalog),
        holds_(snapshot, pod, options.now_steady_s),
        plan_(live_plan(snapshot, pod, options.now_steady_s)),
        self_accounted_(wants_self_accounted(pod.requests, *options.catalog)),
        catalog_(*options.catalog) {}

  Verdict verdict(std::string_view name, NodeIndex index) const {
    const bool known = index != kUnknownNode;
    if (known) {
      const Verdict lasting =
          lasting_verdict(*snapshot_.node(index).node, pod_.requests, accepted_);
      if (!passes(lasting)) return lasting;
    }
    if (plan_ != nullptr && !planned(name)) return Verdict::kNotPlanned;
    if (!known) return self_accounted_ ? Verdict::kNotYetObserved : Verdict::kPass;
    if (self_accounted_ && !own_account_covers(index)) return Verdict::kInsufficientGpus;
    if (holds_.any(index)) {
      const Resources free = snapshot_.node(index).free() - holds_.against(index);
      if (!fits(pod_.requests, free)) return Verdict::kHeldForOthers;
    }
    return Verdict::kPass;
  }

 private:
  bool planned(std::string_view name) const {
    return std::any_of(plan_->nodes.begin(), plan_->nodes.end(),
                       [&](const NodeName& node) { return node.str() == name; });
  }

  // Free GPUs of the resources that nobody but us counts.
  bool own_account_covers(NodeIndex index) const {
    const NodeState& state = snapshot_.node(index);
    return std::all_of(
        pod_.requests.gpus.begin(), pod_.requests.gpus.end(), [&](const GpuAmount& amount) {
          const GpuResourceRule* rule = catalog_.resource(amount.resource);
          if (amount.count <= 0 || rule == nullptr || !rule->self_accounted) return true;
          return amount.count <= saturating_sub(state.node->allocatable.gpu_count(amount.resource),
                                                state.used.gpu_count(amount.resource));
        });
  }

  const ClusterSnapshot& snapshot_;
  const Pod& pod_;
  AcceptedTypes accepted_;
  HoldView holds_;
  const PlanNote* plan_;
  bool self_accounted_;
  const GpuCatalog& catalog_;
};

// An unmanaged pod yields to holds only while somewhere else remains for it.
void yield_to_unmanaged(std::vector<Verdict>& verdicts) {
  if (std::any_of(verdicts.begin(), verdicts.end(), passes)) return;
  std::replace(verdicts.begin(), verdicts.end(), Verdict::kHeldForOthers, Verdict::kPass);
}

}  // namespace

Verdict lasting_verdict(const Node& node, const Resources& request, const AcceptedTypes& accepted) {
  if (!node.problems.empty()) return Verdict::kNodeUnreadable;
  bool wants_gpus = false;
  bool too_small = false;
  for (const GpuAmount& amount : request.gpus) {
    if (amount.count <= 0) continue;
    wants_gpus = true;
    too_small = too_small || amount.count > node.allocatable.gpu_count(amount.resource);
  }
  if (wants_gpus && !accepted.preference(node.gpu_type))
    return node.gpu_type.empty() ? Verdict::kGpuTypeUnknown : Verdict::kGpuTypeNotAccepted;
  return too_small ? Verdict::kNodeTooSmall : Verdict::kPass;
}

FilterReply filter_nodes(const ClusterSnapshot& snapshot, const NodesRequest& request,
                         const FilterOptions& options) {
  const Pod& pod = request.pod;
  FilterReply reply;
  reply.verdicts.assign(request.node_names.size(), Verdict::kPass);
  if (options.shadow) return reply;
  if (!pod.problems.empty()) {
    reply.error = "the pod's requests cannot be read: " + pod.problems.front();
    return reply;
  }
  if (!options.trusted) {
    if (wants_self_accounted(pod.requests, *options.catalog))
      reply.error =
          "the cluster cache is not synced, and the requested share is accounted here alone";
    return reply;
  }
  const NodeFilter filter(snapshot, pod, options);
  const std::vector<NodeIndex> nodes = find_nodes(snapshot, request.node_names);
  const Prefetcher prefetch(snapshot, nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    prefetch.at(i);
    reply.verdicts[i] = filter.verdict(request.node_names[i], nodes[i]);
  }
  if (!pod.managed) yield_to_unmanaged(reply.verdicts);
  return reply;
}

}  // namespace slackline::core

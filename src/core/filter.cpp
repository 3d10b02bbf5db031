#include "slackline/core/filter.h"

#include <algorithm>

#include "node_fit.h"
#include "node_lookup.h"

namespace slackline::core {
namespace {

class NodeFilter {
 public:
  NodeFilter(const ClusterSnapshot& snapshot, const Pod& pod, const FilterOptions& options)
      : fit_(snapshot, pod, effective_intent(snapshot, pod), *options.catalog,
             options.now_steady_s),
        plan_(live_plan(snapshot, pod, options.now_steady_s)),
        taken_(options.taken) {}

  Verdict verdict(std::string_view name, NodeIndex index) {
    const bool known = index != kUnknownNode;
    if (known)
      if (const Verdict lasting = fit_.lasting(index); !passes(lasting)) return lasting;
    if (plan_ != nullptr && !planned(name)) return Verdict::kNotPlanned;
    if (!known) return fit_.self_accounted() ? Verdict::kNotYetObserved : Verdict::kPass;
    if (fit_.self_accounted() && !fit_.own_account_covers(index, taken_))
      return Verdict::kInsufficientGpus;
    return fit_.fits_beside_holds(index) ? Verdict::kPass : Verdict::kHeldForOthers;
  }

 private:
  bool planned(std::string_view name) const {
    return std::any_of(plan_->nodes.begin(), plan_->nodes.end(),
                       [&](const NodeName& node) { return node.str() == name; });
  }

  NodeFit fit_;
  const PlanNote* plan_;
  const std::span<const TakenShares> taken_;
};

// An unmanaged pod yields to holds only while somewhere else remains for it.
void yield_to_unmanaged(std::vector<Verdict>& verdicts) {
  if (std::any_of(verdicts.begin(), verdicts.end(), passes)) return;
  std::replace(verdicts.begin(), verdicts.end(), Verdict::kHeldForOthers, Verdict::kPass);
}

}  // namespace

FilterReply filter_nodes(const ClusterSnapshot& snapshot, const NodesRequest& request,
                         const FilterOptions& options) {
  const Pod& pod = request.pod;
  FilterReply reply;
  reply.verdicts.assign(request.node_names.size(), Verdict::kPass);
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
  NodeFilter filter(snapshot, pod, options);
  const std::vector<NodeIndex> nodes = find_nodes(snapshot, request);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    reply.verdicts[i] = filter.verdict(request.node_names[i], nodes[i]);
  if (!pod.managed) yield_to_unmanaged(reply.verdicts);
  return reply;
}

}  // namespace slackline::core

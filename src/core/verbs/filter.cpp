#include "slackline/core/verbs/filter.h"

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
        taken_(options.taken) {
    if (plan_ == nullptr) return;
    for (const NodeName& node : plan_->nodes)
      planned_.push_back(node.str());
    std::sort(planned_.begin(), planned_.end());
  }

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
    return std::binary_search(planned_.begin(), planned_.end(), name);
  }

  NodeFit fit_;
  const PlanNote* plan_;
  const std::span<const TakenShares> taken_;
  std::vector<std::string_view> planned_;  // the plan's nodes, sorted
};

// An unmanaged pod yields to holds only while another node remains for it.
void yield_to_unmanaged(std::vector<Verdict>& verdicts) {
  if (std::any_of(verdicts.begin(), verdicts.end(), passes)) return;
  std::replace(verdicts.begin(), verdicts.end(), Verdict::kHeldForOthers, Verdict::kPass);
}

FilterReply unjudged(FilterReply reply, bool ours_alone) {
  reply.gave_up = true;
  std::fill(reply.verdicts.begin(), reply.verdicts.end(), Verdict::kPass);
  if (ours_alone)
    reply.error = "there was no time to judge, and only Slackline counts the requested share";
  return reply;
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
  const bool ours_alone = wants_self_accounted(pod.requests, *options.catalog);
  if (!options.trusted) {
    if (ours_alone)
      reply.error =
          "the cluster cache is not synced, and only Slackline counts the requested share";
    return reply;
  }
  NodeFilter filter(snapshot, pod, options);
  const std::vector<NodeIndex> nodes = find_nodes(snapshot, request);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i % kNodesPerAsk == 0 && is_asked(options.stop))
      return unjudged(std::move(reply), ours_alone);
    reply.verdicts[i] = filter.verdict(request.node_names[i], nodes[i]);
  }
  if (!pod.managed) yield_to_unmanaged(reply.verdicts);
  return reply;
}

}  // namespace slackline::core

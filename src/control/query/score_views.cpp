// How every node is judged for a pod, as filter and prioritize do.
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "cluster/watch/source.h"
#include "control/query/queries.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/predicates.h"
#include "slackline/core/verbs/filter.h"
#include "slackline/core/verbs/score.h"

namespace slackline::control {
namespace {

// What kube-scheduler's own filters say of the nodes, one by one; empty: they are not asked.
using Misfits = std::vector<std::optional<core::Misfit>>;

// Some of the nodes that are asked about, with what filter says of each.
struct JudgedNodes {
  NodesRequest request;
  std::vector<Verdict> verdicts;
  Misfits misfits;
};

Misfits misfits_of(const ClusterSnapshot& snapshot, const Pod& pod) {
  Misfits misfits;
  for (const NodeStatePtr& state : snapshot.nodes)
    misfits.push_back(core::misfit(pod, *state->node));
  return misfits;
}

// Those that pass, and the others.
std::pair<JudgedNodes, JudgedNodes> split_by_verdict(const NodesRequest& request,
                                                     const std::vector<Verdict>& verdicts,
                                                     const Misfits& misfits) {
  std::pair<JudgedNodes, JudgedNodes> parts;
  parts.first.request.pod = parts.second.request.pod = request.pod;
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    const auto misfit = misfits.empty() ? std::nullopt : misfits[i];
    JudgedNodes& part = passes(verdicts[i]) && !misfit ? parts.first : parts.second;
    part.request.node_names.push_back(request.node_names[i]);
    part.verdicts.push_back(verdicts[i]);
    part.misfits.push_back(misfit);
  }
  return parts;
}

ScoreView score_view(const ClusterSnapshot& snapshot, const JudgedNodes& judged,
                     const core::ScoreSheet& sheet, std::uint32_t at) {
  const core::MeasuredNode& node = sheet.measured.nodes[at];
  const core::TypeEstimate& type = sheet.measured.type_of(node);
  const Verdict verdict = judged.verdicts[at];
  ScoreView view;
  view.node = NodeName(judged.request.node_names[at]);
  view.gpu_type = snapshot.node(*snapshot.find_node(view.node.str())).node->gpu_type;
  const std::optional<core::Misfit>& misfit = judged.misfits[at];
  const bool by_stock = passes(verdict) && misfit.has_value();
  view.passes = passes(verdict) && !misfit;
  view.verdict = by_stock ? core::code(*misfit) : code(verdict);
  view.message = by_stock ? core::message(*misfit) : message(verdict);
  view.score = view.passes ? sheet.scores[at] : 0;
  if (type.prediction) {
    view.source = type.model_source;
    view.extrapolated = type.prediction->extrapolated;
  }
  view.feasible = type.feasible;
  view.features = core::named_features(core::feature_row(sheet.measured, node));
  return view;
}

// "A100 480..550 samples/s": the type, and what 9 of 10 runs are expected to do on it.
std::string estimate_text(const core::TypeEstimate& estimate) {
  std::string type = estimate.type.empty() ? "unknown type" : estimate.type.str();
  if (!estimate.prediction) return type;
  return format("{} {:.3g}..{:.3g} samples/s", type, estimate.prediction->low,
                estimate.prediction->high);
}

// Why the scores are what they are, in words: where each type's figures come from.
std::string score_note(const core::ScoreSheet& passing, const core::ScoreSheet& failing) {
  std::map<std::string, std::set<std::string>> by_source;
  for (const core::ScoreSheet* sheet : {&passing, &failing})
    for (const core::TypeEstimate& type : sheet->measured.types)
      by_source[type.model_source].insert(estimate_text(type));
  std::vector<std::string> notes;
  for (const auto& [source, types] : by_source)
    notes.push_back(source.starts_with("none")
                        ? source
                        : format("{} ({})", source, join({types.begin(), types.end()}, ", ")));
  return format("shape {}; throughput model: {}", passing.measured.shape.str(), join(notes, "; "));
}

}  // namespace

Result<ScoresView> Queries::judge(const ClusterSnapshot& snapshot, const Pod& pod,
                                  bool stock) const {
  NodesRequest request;
  request.pod = pod;
  for (const NodeStatePtr& state : snapshot.nodes)
    request.node_names.push_back(state->node->name.str());

  const core::Situation situation = options_.situation(*known_.get(), source_, clock_);
  const FilterReply verdicts = core::filter_nodes(snapshot, request, {situation});
  if (!verdicts.error.empty())
    return fail(pod.problems.empty() ? ErrorCode::kUnavailable : ErrorCode::kInvalidArgument,
                verdicts.error);
  const core::MeasureOptions score{situation};

  ScoresView view;
  const TaskIntent intent = effective_intent(snapshot, pod);
  view.pod = pod.key;
  view.uid = pod.uid;
  view.snapshot_version = snapshot.version;
  view.policy = core::rankers().front()->name();
  view.model = intent.model.value_or("");
  view.problems = intent.problems;
  // kube-scheduler asks prioritize about nodes that passed, and a score depends on who is asked
  // about: the others come behind with figures only.
  const auto [passing, failing] =
      split_by_verdict(request, verdicts.verdicts, stock ? misfits_of(snapshot, pod) : Misfits());
  const core::ScoreSheet sheet = core::score_nodes(snapshot, passing.request, score);
  view.deadline_s = sheet.measured.deadline_s;
  for (const std::uint32_t at : sheet.best_first(passing.request)) {
    view.nodes.push_back(score_view(snapshot, passing, sheet, at));
    view.nodes.back().rank = static_cast<int>(view.nodes.size());
  }
  const core::ScoreSheet rest = core::score_nodes(snapshot, failing.request, score);
  for (const std::uint32_t at : rest.best_first(failing.request))
    view.nodes.push_back(score_view(snapshot, failing, rest, at));
  view.note = score_note(sheet, rest);
  return view;
}

}  // namespace slackline::control

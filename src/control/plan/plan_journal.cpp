#include "control/plan/plan_journal.h"

#include <map>

#include "slackline/base/text.h"
#include "slackline/model/reason.h"

namespace slackline::control {
namespace {

std::optional<Verb> verb_of(const OwnWrite& write) {
  switch (write.kind) {
    case OwnWriteKind::kReleaseJob:
    case OwnWriteKind::kPlanPod:
      if (write.reason == reason::kPlanDisbelieved) return std::nullopt;
      if (!write.plan) return Verb::kSuspend;
      return write.reason.empty() ? Verb::kPlan : Verb::kMove;
    case OwnWriteKind::kSuspendJob:
      return Verb::kSuspend;
    case OwnWriteKind::kNominate:
      return write.reason.empty() ? std::nullopt : std::optional(Verb::kMove);
    case OwnWriteKind::kOpenJob:
    case OwnWriteKind::kClearPlan:
    case OwnWriteKind::kClearNomination:
    case OwnWriteKind::kNarrowPod:
    case OwnWriteKind::kLiftGate:
      break;
  }
  return std::nullopt;
}

// Each node once, with the pods that the plan puts there.
std::vector<DecisionCandidate> nodes_of(const PlanNote& plan) {
  std::map<NodeName, int> pods;
  for (const NodeName& node : plan.nodes)
    ++pods[node];
  std::vector<DecisionCandidate> nodes;
  for (const auto& [node, count] : pods)
    if (nodes.size() < kMaxDecisionCandidates)
      nodes.push_back({node.str(), 0, {{"pods", static_cast<double>(count)}}});
  return nodes;
}

std::string result_of(const OwnWrite& write) {
  if (write.plan) {
    std::vector<std::string> names;
    for (const DecisionCandidate& node : nodes_of(*write.plan))
      names.push_back(node.node);
    return format("{} {} on {}", write.plan->shape.str(), write.plan->gpu_type.str(),
                  join(names, ", "));
  }
  if (write.kind == OwnWriteKind::kNominate) return format("nominated to {}", write.node.str());
  return "back into the queue";
}

}  // namespace

std::optional<DecisionRow> row_of(const OwnWrite& write, double now_s) {
  const auto verb = verb_of(write);
  if (!verb) return std::nullopt;
  DecisionRow row;
  row.time_s = now_s;
  row.verb = *verb;
  row.pod_uid = write.uid;
  row.pod = write.key;
  row.plan_id = write.plan ? write.plan->id : write.plan_id;
  row.result = result_of(write);
  if (!write.reason.empty()) row.reasons = {{write.reason, 1}};
  if (write.plan) row.candidates = nodes_of(*write.plan);
  row.nodes_asked = static_cast<std::uint32_t>(row.candidates.size());
  if (!write.decided) return row;
  row.policy = write.decided->policy;
  row.options_hash = write.decided->options_hash;
  row.snapshot_version = write.decided->snapshot_version;
  return row;
}

void PlanJournal::written(const OwnWrite& write) {
  if (write.predicted_s) log_.predict(write.uid, *write.predicted_s);
  if (auto row = row_of(write, clock_.wall_s())) log_.record(*std::move(row));
}

}  // namespace slackline::control

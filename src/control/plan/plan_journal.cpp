#include "control/plan/plan_journal.h"

#include <map>

#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/model/reason.h"

namespace slackline::control {
namespace {

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

DecisionStop told_of(const StopJob& stop) {
  DecisionStop told{.asker = stop.asker,
                    .gain_s = stop.gain.earlier_s,
                    .saves_deadline = stop.gain.saves_deadline,
                    .risks_deadline = stop.risks_deadline,
                    .lost_gpu_s = stop.lost_gpu_s,
                    .work_left = stop.preemptions->left};
  if (stop.move) told.gain_s = stop.move->gain_s;
  return told;
}

std::string result_of(const DecisionStop& told, std::string_view verb, const std::string& price) {
  return format("{} for {}, which starts {} earlier{}: {}{}", verb, told.asker.str(),
                format_duration(told.gain_s), told.saves_deadline ? " and keeps its deadline" : "",
                price, told.risks_deadline ? "; its own deadline is at risk" : "");
}

std::string result_of(const StopJob& stop) {
  const DecisionStop told = told_of(stop);
  const std::string price = format("{:.0f} % of its work is left, {:.0f} GPU seconds are lost",
                                   100 * told.work_left, told.lost_gpu_s);
  if (stop.preemptions->by == reason::kResizeRolledBack)
    return format("resized too small ({}): {}", to_string(stop.preemptions->too_small), price);
  if (stop.disruption)
    return format("stopped after {}: {}", to_string(stop.disruption->kind), price);
  if (stop.move)
    return format("moved ({}) for {}, which {} {} earlier: {}", to_string(stop.move->cause),
                  told.asker.str(), stop.move->cause == MoveCause::kSlow ? "ends" : "starts",
                  format_duration(told.gain_s), price);
  if (!stop.preemptions->goes_on) return result_of(told, "stopped", price);
  const PreemptionNote::GoesOn& on = *stop.preemptions->goes_on;
  const std::string change = format("from {} to {}", on.from.str(), on.shape.str());
  if (stop.preemptions->by == reason::kGrown)
    return format("grown {}, ends {} earlier: {}", change, format_duration(told.gain_s), price);
  const bool smaller = on.shape.gpus() < on.from.gpus();
  return result_of(told, smaller ? "shrunk " + change : "moved", price);
}

DecisionStop told_of(const EvictPod& evict) {
  return {.asker = evict.asker,
          .gain_s = evict.gain.earlier_s,
          .saves_deadline = evict.gain.saves_deadline,
          .risks_deadline = evict.risks_deadline,
          .lost_gpu_s = evict.lost_gpu_s,
          .work_left = 1};
}

std::string result_of(const EvictPod& evict) {
  return result_of(told_of(evict), "evicted",
                   format("{:.0f} GPU seconds are lost", evict.lost_gpu_s));
}

std::string result_of(const OwnWrite& write) {
  if (const PlanNote* plan = write.plan()) {
    std::vector<std::string> names;
    for (const DecisionCandidate& node : nodes_of(*plan))
      names.push_back(node.node);
    const std::string resized =
        plan->resize ? format(" (resized, written as {})", plan->resize->asked.str()) : "";
    return format("{} {} on {}{}", plan->shape.str(), plan->gpu_type.str(), join(names, ", "),
                  resized);
  }
  if (const auto* nominate = write.as<Nominate>())
    return format("nominated to {}", nominate->node.str());
  if (const auto* stop = write.as<StopJob>()) return result_of(*stop);
  if (const auto* evict = write.as<EvictPod>()) return result_of(*evict);
  if (const auto* end = write.as<EndCalibration>())
    return format("calibration run ended for {}", end->asker.str());
  return "back into the queue";
}

}  // namespace

std::optional<DecisionRow> row_of(const OwnWrite& write, double now_s) {
  const Decision& decision = write.decision;
  if (!decision.verb) return std::nullopt;
  const PlanNote* plan = write.plan();
  DecisionRow row;
  row.time_s = now_s;
  row.verb = *decision.verb;
  row.pod_uid = write.target.uid;
  row.pod = write.target.key;
  row.plan_id = plan != nullptr ? plan->id : decision.plan_id;
  row.result = result_of(write);
  if (const auto* stop = write.as<StopJob>()) row.stop = told_of(*stop);
  if (const auto* evict = write.as<EvictPod>()) row.stop = told_of(*evict);
  if (!decision.reason.empty()) row.reasons = {{std::string(decision.reason), 1}};
  if (plan != nullptr) row.candidates = nodes_of(*plan);
  row.nodes_asked = static_cast<std::uint32_t>(row.candidates.size());
  if (!decision.stamp) return row;
  row.policy = decision.stamp->policy;
  row.options_hash = decision.stamp->options_hash;
  row.snapshot_version = decision.stamp->snapshot_version;
  return row;
}

void PlanJournal::written(const OwnWrite& write) {
  if (const auto* release = write.as<ReleaseJob>();
      release != nullptr && !release->of_rest && release->plan->predicted_s)
    log_.predict(write.target.uid, *release->plan->predicted_s);
  if (auto row = row_of(write, clock_.wall_s())) log_.record(*std::move(row));
}

}  // namespace slackline::control

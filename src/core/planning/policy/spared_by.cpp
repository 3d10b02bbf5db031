#include "slackline/core/planning/spared_by.h"

#include "policy_kind.h"
#include "stop_rules.h"

namespace slackline::core {

Spared spared_by(const Policy& policy, const PlanState& state, TaskIndex run, double now_s) {
  const auto* stopping = dynamic_cast<const StoppingRule*>(policy.rule.get());
  const auto rules = stopping != nullptr ? stopping->stop_rules() : std::nullopt;
  if (!rules) return Spared::kStopsNobody;
  return spared_by(state, run, now_s, *rules, /*urgent=*/false);
}

}  // namespace slackline::core

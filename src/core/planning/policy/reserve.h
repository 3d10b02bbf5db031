// The options of Reserve (reserve.cpp); in brackets an option's name where it is not the field's.
// Private to src/core.
#pragma once

#include <optional>

#include "planning.h"
#include "slackline/base/duration.h"
#include "stop_rules.h"

namespace slackline::core {

struct ReserveOptions {
  int held = 8;
  double age = 4;
  double hopeless_days = 5;  // [hopeless]
  double price = 0.4;        // [p0]
  double tick_s = 60;        // [tick]
  bool preemption = false;
  double protect_s = 60;                   // [protect]
  int most_stops = 3;                      // [max_preempts]
  std::optional<double> budget_gpu_h = 4;  // [budget]
  double budget_share = 0.02;              // [budget_share]

  std::optional<LossBudget> budget() const {
    if (!budget_gpu_h) return std::nullopt;
    return LossBudget{*budget_gpu_h * kHour_s, budget_share};
  }
  StopRules stop_rules() const {
    return {protect_s, most_stops, /*spare_ends=*/true, /*learn=*/true};
  }
};

void serve_reserve(Planning& planning, const ReserveOptions& options);
// Whether the task may be given fewer GPUs, or more, than it asks for.
bool is_flexible(const PlacementMenu& menu);

}  // namespace slackline::core

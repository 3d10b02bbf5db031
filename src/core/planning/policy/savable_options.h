// The options of SavableFirst (docs/study/policies.md); in brackets an option's name where it is
// not the field's. Private to src/core.
#pragma once

#include <optional>

#include "planning.h"
#include "slackline/base/duration.h"
#include "stop_rules.h"

namespace slackline::core {

struct SavableOptions {
  enum class Preempt { kNever, kLateVictims, kResumableVictims };  // 0, 1, 2
  enum class Place { kPrice, kCer, kArea, kPerf };
  enum class Order { kDeadline, kArea, kSlack, kClass };
  enum class Rest { kRatio, kFifo, kArea, kLevel };

  double p0 = 0.4;
  double age = 8;
  double floor_s = 7200;  // [floor]
  double share = 0.125;
  double least_share_gpus = 0;  // of however few GPUs; 0 as in the studies
  double headroom = 0;
  double calm = 0;
  std::optional<double> margin = 0;  // nullopt follows the error of finished runs
  Preempt preempt = Preempt::kNever;
  double patience_s = 300;  // [patience]
  double gap = 0.75;
  double protect_s = 600;  // [protect]
  int max_preempts = 3;
  double tick_s = 60;  // [tick]
  bool shrink = false;
  bool learn = false;
  bool trade = false;
  bool spare_ends = false;  // [ends]
  // What an asker's queue may make others lose in a day: this share of the GPU time that it used,
  // at least so many GPU-hours; nullopt: any.
  std::optional<double> budget_gpu_h{};  // [budget]
  double budget_share = 0.02;            // [budget_share]
  // While tasks of one number of GPUs wait, the queue is served by Reserve, with reservations for
  // so many of them; 0: never.
  int held = 0;
  Place place = Place::kPrice;
  Order order = Order::kDeadline;
  Rest rest = Rest::kRatio;

  std::optional<LossBudget> budget() const {
    if (!budget_gpu_h) return std::nullopt;
    return LossBudget{*budget_gpu_h * kHour_s, budget_share};
  }
  StopRules stop_rules() const { return {protect_s, max_preempts, spare_ends, learn}; }
  bool preempts() const { return preempt != Preempt::kNever; }
};

void serve_savable_first(Planning& planning, const SavableOptions& options);

}  // namespace slackline::core

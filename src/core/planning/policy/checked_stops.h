// CheckedStops: whom to stop so that a task that would be late starts now, if then everybody who
// has a place in time keeps one, and so do those who are stopped (Reserve). Private to src/core.
//
// Victims, cheapest first: runs that will miss their deadline anyway, by GPUs; then runs that are
// due later than the task and have slack after a restart, by the GPU time that the stop costs, more
// where little slack is left. Of few nodes the cheapest sets are tried.
#pragma once

#include <optional>
#include <vector>

#include "plan_sheet.h"
#include "room_by_stops.h"
#include "stop_rules.h"

namespace slackline::core {

class CheckedStops {
 public:
  CheckedStops(Planning& planning, const StopRules& rules, std::optional<LossBudget> budget,
               double price)
      : planning_(planning),
        state_(planning.state()),
        rules_(rules),
        budget_(budget),
        price_(price) {}

  // Stops runs, and returns the plan after that: `asker` now, all `others` in time, as they were.
  // nullopt: nobody was stopped.
  std::optional<PlanSheet> make(const Seeker& asker, const std::vector<Seeker>& others);
  // Those that were stopped and have no place in time: they were late anyway.
  const std::vector<TaskIndex>& gone() const { return gone_; }

 private:
  using Victim = StopVictim;
  using Victims = StopVictims;

  std::vector<Victim> victims_of(const Seeker& asker, double run_s, const Choice& wanted) const;
  std::optional<Victim> victim_of(TaskIndex run, const Seeker& asker, double run_s) const;
  std::optional<PlanSheet> plan_with(const Victims& victims, const Seeker& asker,
                                     std::vector<Seeker> others) const;
  bool place_all(PlanSheet& sheet, const Seeker& asker, const std::vector<Seeker>& others) const;
  bool pays(TaskIndex asker, const Victims& victims);
  void stop(const Victims& set, const Seeker& asker, const Choice& wanted);

  Planning& planning_;
  const PlanState& state_;
  StopRules rules_;
  std::optional<LossBudget> budget_;
  double price_;
  std::optional<std::vector<double>> budgets_left_gpu_s_;  // by queue
  std::vector<TaskIndex> gone_;
};

}  // namespace slackline::core

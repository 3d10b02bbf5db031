// Forecasts made while a run is simulated, with what then happened: the accuracy of
// core/planning/rollout.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "sim/engine.h"
#include "slackline/core/planning/rollout.h"

namespace slackline::sim {

struct ForecastTimes {
  double from_s = 2 * 3600.0;
  double until_s = std::numeric_limits<double>::infinity();  // and while tasks still arrive
  double every_s = 2 * 3600.0;
};

struct ForecastRow {
  double made_s = 0;
  bool runs = false;  // when the forecast was made; else it waits
  core::Forecast forecast;
};

// Forecasts everything that waits or runs, at the first call of the policy at or after each of the
// times. Tasks like those that arrived within the last day, or since the run began, are expected to
// arrive again.
class ForecastLog {
 public:
  // `tasks` and `policy` must outlive the log.
  ForecastLog(const core::TaskTable& tasks, const core::Policy& policy, const ForecastTimes& times);

  // For SimulationOptions::watch.
  void watch(const core::PlanState& state, double now_s);
  const std::vector<ForecastRow>& rows() const { return rows_; }

 private:
  const core::TaskTable& tasks_;
  const core::Policy& policy_;
  ForecastTimes times_;
  double first_submit_s_;
  double last_submit_s_;
  double next_s_;
  std::vector<ForecastRow> rows_;
};

// made_s,task,phase,start_p10,...,start_p90,start_s,finish_p10,...,finish_p90,finish_s,deadline_s,
// chance. phase: waiting or running; start_s: the next start, of a running task its last one; inf,
// in forecasts and outcomes: beyond the horizon of forecasts; chance: to finish by the deadline,
// empty where there is none. `outcome` must have its events.
std::string format_forecasts_csv(const core::TaskTable& tasks, const Outcome& outcome,
                                 const std::vector<ForecastRow>& rows);

}  // namespace slackline::sim

#include "slackline/core/answers/told_forecast.h"

#include "slackline/core/cluster/as_planned.h"

namespace slackline::core {
namespace {

bool runs(const PlanState& state, TaskIndex index) {
  return state.progress(index).phase == TaskPhase::kRunning;
}

}  // namespace

bool end_is_known(const QueueTask& task, const PlanState& state, TaskIndex index) {
  return runs(state, index) ? task.length_known_in(state.running_choice(index))
                            : task.length_known();
}

Forecast as_told(Forecast forecast, const QueueTask& task, const PlanState& state,
                 TaskIndex index) {
  const double lasts_s =
      runs(state, index) ? state.running_choice(index).lat_s : state.fastest_lat_s(index);
  if (forecast.chance && ends_unfinished(task, lasts_s)) forecast.chance = 0;
  if (end_is_known(task, state, index)) return forecast;
  forecast.finish_s.deciles.fill(kNever);
  forecast.chance.reset();
  const double earliest_s = forecast.start_s.deciles.front();
  if (task.deadline_s && earliest_s > *task.deadline_s && earliest_s < kNever) forecast.chance = 0;
  return forecast;
}

}  // namespace slackline::core

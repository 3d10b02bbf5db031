// IdleHolders: who holds GPUs now and uses none of them: notebooks, services, Jobs. Told of every
// step that the live pass has read. It begins with an empty memory.
//
// A GPU counts as used in a step in which it was ever busy for 5 % or more. Time in which nothing
// was measured counts neither as use nor as idleness, and GPUs that several pods share are left
// out.
//
// Threads: one; known() from any.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "message/report_views.h"
#include "slackline/base/published.h"
#include "slackline/model/usage.h"
#include "telemetry/measured_tasks.h"

namespace slackline::control {

inline constexpr double kUsedShare = 0.05;
inline constexpr int kIdleSteps = 10;  // after so many a holder is told
inline constexpr std::size_t kMostIdle = 100;

class IdleHolders {
 public:
  explicit IdleHolders(double step_s) : least_s_(kIdleSteps * step_s) {}

  // `tasks` in a time that ended at `end_s`, and what was measured of them in it, by time. Those
  // that are over are forgotten. `kind_of` names what a task is.
  void observe(const std::vector<telemetry::MeasuredTask>& tasks, double end_s,
               const std::vector<UsageSample>& samples,
               const std::function<std::string(const telemetry::MeasuredTask&)>& kind_of);
  void clear();

  // Those that have been idle for long enough, with most idle GPU-hours first.
  const Published<std::vector<IdleHolder>>& known() const { return known_; }

 private:
  IdleHolder holder_of(const telemetry::MeasuredTask& task, std::string kind) const;
  static void take(IdleHolder& holder, const UsageSample& sample);
  void publish();

  const double least_s_;
  std::unordered_map<Uid, IdleHolder> holders_;  // by run
  Published<std::vector<IdleHolder>> known_;
};

}  // namespace slackline::control

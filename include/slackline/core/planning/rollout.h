// rollout: when waiting tasks will start and finish, by playing the policy forward.
//
// kScenarios futures are played with play(), each to the end of the tasks asked for. They are
// fixed, not drawn: in scenario k every task runs exp(rms x z) times as long as predicted, where z
// takes each of kScenarios normal quantiles once over the scenarios, in an order of the task's own
// in which the last half mirrors the first: so the median of a run is its prediction. rms is the
// error that the placement's estimate claims (core/planning/menu.h), else the state's measured one.
// A task that runs already is known to have lasted this long: its quantiles are those of the times
// that are still possible. Tasks that are expected to come arrive in every scenario, shifted within
// their window by k/kScenarios of it, again and again.
//
// A forecast does not know failures, cancelled tasks, or a changing load.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "slackline/base/stop.h"
#include "slackline/core/planning/play.h"

namespace slackline::core {

inline constexpr int kScenarios = 17;  // odd: those after the middle mirror those before

// Seconds on the clock of the state; infinity: beyond the horizon in this share of scenarios.
struct Quantiles {
  std::array<double, 9> deciles{};  // 10 % to 90 %, ascending

  double p10() const { return deciles[0]; }
  double p50() const { return deciles[4]; }
  double p90() const { return deciles[8]; }
};

struct Forecast {
  TaskIndex task = 0;
  Quantiles start_s;  // the next start; of a running task its last one
  Quantiles finish_s;
  // The share of the futures in which it finishes by its deadline; unset: it has none, or one that
  // is later than the futures end of which some do not tell.
  std::optional<double> chance{};
  std::optional<Reservation> reserved{};                     // by the plan of now
  double until_s = std::numeric_limits<double>::infinity();  // when the futures end
};

inline constexpr double kShortHorizon_s = 2 * 86400.0;

struct RolloutOptions {
  // Tasks like those that are expected to arrive, over a window of window_s: mostly the arrivals of
  // the last window_s. Only the differences of their submit times count. Empty: no arrivals.
  std::vector<PlanTask> expected;
  double window_s = 86400;
  std::vector<TaskIndex> followers{};  // tasks of the state that come after others of it
  double horizon_s = kShortHorizon_s;
  double resolution = 0;  // PlayOptions::resolution, of the time from now
  StopAsked stop{};       // asked after every call of the policy
  // How many of the kScenarios futures are played: an odd number. The least that have a 10 % and a
  // 90 % quantile are 9; kAsPredicted: one in which every run lasts as long as predicted.
  int futures = kScenarios;
};

inline constexpr int kFewFutures = 9;
inline constexpr int kAsPredicted = 1;

// Those of the state that come after others of it, and have not come yet.
std::vector<TaskIndex> followers_in(const PlanState& state);

// How far to look so that runs as long as those that run and wait can end and be followed by
// others, at least two days and at most ninety: three times the longest whose length is known, less
// where the arrivals of so long a time would be too many.
double horizon_for(const PlanState& state, double now_s, std::size_t expected, double window_s);

// The futures of a table of tasks, played for one or more states over the table: what differs
// between two answers is what the states differ in.
//
// Immutable; `tasks` outlives it.
class Futures {
 public:
  // `again`: they will be played more than once, so the tasks that are expected are kept; that
  // takes the memory of as many tables as there are futures.
  Futures(const TaskTable& tasks, double now_s, RolloutOptions options, bool again);

  double now_s() const { return now_s_; }
  const TaskTable& tasks() const { return tasks_; }
  // As rollout(). The state is one over `tasks`.
  std::vector<Forecast> play(const PlanState& state, const Policy& policy,
                             const std::vector<TaskIndex>& asked) const;
  // Plays every future to the horizon. `look` sees the state after every call of the policy, the
  // first one is that of now. False: it was stopped.
  using Look = std::function<void(int future, double now_s, const PlanState& state)>;
  bool watch(const PlanState& state, const Policy& policy, const Look& look) const;

 private:
  bool all_alike(const PlanState& state) const;
  std::vector<int> numbers(const PlanState& state) const;
  TaskTable with_expected(int number) const;
  template <class Visit>
  bool each(const PlanState& state, const Policy& policy, const Visit& visit) const;

  const TaskTable& tasks_;
  double now_s_;
  RolloutOptions options_;
  std::map<int, TaskTable> kept_;    // by future
  std::vector<TaskIndex> arrivals_;  // those that are expected, in each table; empty: none are
};

// One forecast for each task asked about, which must wait, run or follow; other tasks still in the
// future of the state do not arrive. O(kScenarios x calls of the policy); of one scenario if all
// are the same: no error and no expected arrivals. Empty if it was stopped.
std::vector<Forecast> rollout(const PlanState& state, double now_s, const Policy& policy,
                              const std::vector<TaskIndex>& tasks,
                              const RolloutOptions& options = {});

}  // namespace slackline::core

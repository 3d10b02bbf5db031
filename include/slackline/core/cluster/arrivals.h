// Arrivals: the tasks that came into the queue within the last day. Forecasts expect similar ones
// to come again (core/planning/rollout.h), at the same distances, shifted by an unknown part of the
// day.
//
// Tasks that came before the first snapshot count if they are still in the queue, so a new planner
// expects too few. Only the latest kMostArrivals are kept, and the window shrinks to theirs; while
// it is shorter than kShortest_s none are expected: too many tasks would have to be played.
//
// Not thread-safe; its list is an immutable value.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "slackline/core/cluster/queue.h"
#include "slackline/core/planning/forecast_book.h"

namespace slackline::core {

inline constexpr std::size_t kMostArrivals = 5000;
inline constexpr double kArrivalsWindow_s = 86400;
inline constexpr double kShortest_s = kArrivalsWindow_s / 10;

struct Arrival {
  Uid task;
  double created_s = 0;  // epoch
  std::optional<double> deadline_s;
  TaskRequest request;
  std::shared_ptr<const TaskIntent> intent;  // never null
  std::string account{};                     // as QueueTask::account
};

struct ArrivalList {
  std::vector<Arrival> tasks;  // by (created, task)
  double window_s = kArrivalsWindow_s;
};

// In the form that a forecast of `queue` plays: on every node of the types they accept, each at the
// cost of its own account. `menus` are those of the queue.
Expected expected_of(const ArrivalList& arrivals, TaskMenus& menus, const Queue& queue);

class Arrivals {
 public:
  // `names[task]` as in ForecastBook; labelled gangs have one, too.
  void note(const Queue& queue, const std::vector<Uid>& names, double now_s);
  // Never null.
  const std::shared_ptr<const ArrivalList>& list() const { return list_; }

 private:
  std::unordered_set<Uid> known_;  // of the list
  double floor_s_ = 0;             // created until then: forgotten in favour of later ones
  std::shared_ptr<const ArrivalList> list_ = std::make_shared<const ArrivalList>();
};

}  // namespace slackline::core

// Arrivals: who has come into the queue within the last day. As somebody would who looks back,
// forecasts expect the like of them to come again (core/planning/rollout.h), at the same distances;
// whose shift within the day nobody knows.
//
// What came before the first look counts as far as it is still in the queue, so a planner that has
// just begun expects too few. At most kMostArrivals are kept, the latest, and the window is theirs
// then; while it is less than kShortest_s nobody is expected: too many tasks would have to be
// played.
//
// Not thread-safe; its list is an immutable value.
#pragma once

#include <memory>
#include <optional>
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
};

struct ArrivalList {
  std::vector<Arrival> tasks;  // by (created, task)
  double window_s = kArrivalsWindow_s;
};

// As a forecast plays them: on every node of the types they accept. `menus` are those of the queue
// that is forecast.
Expected expected_of(const ArrivalList& arrivals, TaskMenus& menus);

class Arrivals {
 public:
  // `names[task]` as in a book of forecasts; labelled gangs have one as well.
  void note(const Queue& queue, const std::vector<Uid>& names, double now_s);
  // Never null.
  const std::shared_ptr<const ArrivalList>& list() const { return list_; }

 private:
  std::unordered_set<Uid> known_;  // of the list
  double floor_s_ = 0;             // created until then: forgotten, for others had to be kept
  std::shared_ptr<const ArrivalList> list_ = std::make_shared<const ArrivalList>();
};

}  // namespace slackline::core

// PlanSheet: what a plan with reservations has placed so far, and where the next one can begin.
// Private to src/core.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "planning.h"
#include "timeline.h"

namespace slackline::core {

// A task that asks for a place.
struct Seeker {
  TaskIndex task = 0;
  double due_s = 0;                                             // order
  double must_end_s = std::numeric_limits<double>::infinity();  // by its predicted run
  std::optional<double> left{};  // of its work, where it would be stopped now and start again
};

struct Placed {
  Seeker who;
  ChoiceIndex choice = 0;
  TimelinePlace place;
};

class PlanSheet {
 public:
  // As if these runs had just been stopped. `price`: of a GPU (Reserve).
  PlanSheet(const Planning& planning, double price, const std::vector<TaskIndex>& stopped = {});

  // Now, where it can end in time: whoever may take fewer GPUs takes what is cheapest.
  std::optional<Placed> now(const Seeker& who);
  // Where it ends first, in time; behind runs of unknown length whether in time or not.
  std::optional<Placed> later(const Seeker& who);
  void add(Placed placed);

  bool is_now(const Placed& placed) const { return placed.place.start_s <= planning_->now_s(); }
  const std::vector<Placed>& placed() const { return placed_; }
  std::size_t reserved() const { return reserved_; }  // that begin later
  std::int64_t idle() const { return free_.idle(); }

 private:
  Timeline& timeline();
  double lat_s(const Seeker& who, const Choice& choice) const;
  double planned_s(const Seeker& who, const Choice& choice) const;
  double last_start_s(const Seeker& who, const Choice& choice) const;
  std::optional<TimelinePlace> place_of(const Seeker& who, const Choice& choice,
                                        double last_start_s);
  bool is_stopped(TaskIndex run) const;

  const Planning* planning_;
  const PlanState* state_;
  double price_;
  std::vector<TaskIndex> stopped_;
  FreeGpus free_;                     // now
  ShareUse shares_;                   // the same
  std::optional<Timeline> timeline_;  // made when somebody must wait: before that, what fits fits
  std::vector<Placed> placed_;
  std::size_t reserved_ = 0;
};

}  // namespace slackline::core

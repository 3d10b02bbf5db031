// SparedTasks: the waiting tasks that would miss their deadline if another one began now
// (SavableFirst).
//
// A task has room in time where enough of the runs end, as predicted, before the last moment at
// which a placement of its own still meets its deadline. It is hurt by a start that takes this room
// beyond that moment. Other tasks that wait are not considered, nor is what could be stopped.
#pragma once

#include <optional>
#include <vector>

#include "planning.h"

namespace slackline::core {

// For one call of the policy.
class SparedTasks {
 public:
  // `learn`: runs end as they show, not as predicted.
  SparedTasks(const Planning& planning, bool learn) : planning_(planning), learn_(learn) {}

  // A task that waits, in the order in which tasks are served; its run may take limit_s from now.
  // Only the first few are kept: looking at all that wait would cost more than it is worth.
  void add(TaskIndex task, double limit_s);
  void clear() { tasks_.clear(); }
  // Something began or ended: what is free has changed.
  void forget_room();

  // The first of them that `starts` in this placement, which must fit, would hurt.
  std::optional<TaskIndex> hurt_by(TaskIndex starts, const Choice& chosen);

 private:
  // What a placement of a task finds at the last moment that is in time.
  struct Room {
    PoolIndex pool = 0;
    Placement shape;
    double latest_s = 0;
    std::vector<int> free;  // by node; 0 where it may not run
    int nodes = 0;          // with enough GPUs
  };
  struct Spared {
    TaskIndex task = 0;
    double limit_s = 0;
    std::optional<std::vector<Room>> rooms{};  // in time; made when asked for
  };

  const std::vector<Room>& rooms(Spared& spared) const;
  Room room_of(const Spared& spared, const Choice& wanted) const;
  double end_s(TaskIndex run) const;

  const Planning& planning_;
  bool learn_;
  std::vector<Spared> tasks_;
};

}  // namespace slackline::core

// RunSpeeds: how fast runs have been of late, by what they tell of their progress.
//
// The Job's note has only the last report and the first one of the attempt, whose average says
// little of the last ten minutes. So the reports are remembered here as the snapshot shows them.
// A planner that starts with an empty memory knows no speed before a window's worth of reports has
// come: for it the window begins again, and it never judges by what it has not seen.
//
// Deterministic. Times are epoch seconds.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <unordered_map>

#include "slackline/core/cluster/queue.h"
#include "slackline/model/progress.h"

namespace slackline::core {

// A run is slow whose speed is below this share of the predicted one.
inline constexpr double kSlowShare = 0.7;
inline constexpr double kSlowAfter_s = 600;

struct RunSpeed {
  double work_s = 0;  // of the whole task, at the speed of the last window
  double share = 1;   // of the predicted speed
  double at_s = 0;    // the last report

  bool slow() const { return share < kSlowShare; }
};

class RunSpeeds {
 public:
  // Remembers the reports of the running tasks of the queue, and forgets other tasks. `window_s`:
  // over which a speed is told, above 0.
  void see(const Queue& queue, double window_s);

  // nullopt: its length is unknown, or no two reports of the run are a window apart.
  std::optional<RunSpeed> of(const Queue& queue, TaskIndex index) const;

 private:
  // With a report a minute, over an hour. Of more the oldest are forgotten.
  static constexpr std::size_t kMostReports = 64;

  struct Reports {
    double started_s = 0;
    std::deque<ProgressPoint> points;  // by time; the first is the last one outside the window
  };

  std::unordered_map<Uid, Reports> reports_;  // by Job
  double window_s_ = kSlowAfter_s;
};

}  // namespace slackline::core

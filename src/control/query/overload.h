// Overload: a queue in which nobody who waits can meet a deadline any more, though they could have,
// had there been room. Pure.
//
// Judged are the tasks that wait and whose deadline is still ahead. The queue is overloaded while
// kFewestLate of them or more are predicted late that would have been in time on their fastest
// placement from their creation on, and none is in time. It is well again once one is in time, or
// none is late.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "control/query/queue_reader.h"
#include "message/queue_view.h"

namespace slackline::control {

inline constexpr std::size_t kFewestLate = 2;

// What the cluster has, and what runs there.
struct ClusterLoad {
  struct Run {
    double gpus = 0;
    double end_s = 0;  // predicted, epoch
  };
  double now_s = 0;  // epoch
  double gpus = 0;   // that planned tasks may use at most
  std::vector<Run> runs;
};

ClusterLoad load_of(const QueueSight& sight);

// How the deadlines of one queue stand.
struct QueueLoad {
  std::string queue;
  std::size_t in_time = 0;
  std::vector<const QueueRow*> late;  // by position
  double until_s = 0;                 // the latest of their deadlines
  double demand_gpu_h = 0;    // until then: what runs, and all who wait with a deadline by then
  double capacity_gpu_h = 0;  // until then

  bool overloaded() const { return in_time == 0 && late.size() >= kFewestLate; }
  bool well() const { return in_time > 0 || late.empty(); }
};

// Of every queue where somebody is judged, by name. `rows` outlive the answer.
std::vector<QueueLoad> queue_loads(const std::vector<QueueRow>& rows, const ClusterLoad& load);

}  // namespace slackline::control

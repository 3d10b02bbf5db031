// Timeline: how many GPUs of each node are free from now on, as predicted: runs end, and what is
// planned takes its place. Private to src/core.
//
// A run whose length is unknown ends far ahead (kFar_s): what is planned behind it has nodes and no
// time, what ends before is in nobody's way, and another run of unknown length is.
#pragma once

#include <limits>
#include <optional>
#include <vector>

#include "slackline/core/planning/plan_state.h"

namespace slackline::core {

// From now; beyond every known end.
inline constexpr double kFar_s = 1e10;

// A run in its place, until it is predicted to end.
struct TimelinePlace {
  PoolIndex pool = 0;
  int gpus_per_node = 0;
  std::vector<PoolNode> nodes{};
  double start_s = 0;
  double end_s = 0;
};

class Timeline {
 public:
  // GPUs that are not free are so for ever; see free_at().
  Timeline(const FreeGpus& free, double now_s);

  // What is free on these nodes until end_s is so no longer.
  void take(const TimelinePlace& place);
  // The GPUs of a run that holds them now come free then.
  void free_at(PoolIndex pool, const std::vector<PoolNode>& nodes, int gpus, double at_s);

  struct Wish {
    PoolIndex pool = 0;
    Placement shape;
    double run_s = 0;  // planned; kFar_s: unknown
    double not_before_s = 0;
    double last_start_s = std::numeric_limits<double>::infinity();
    // What is free now: of nodes that it avoids, taken last, and of the rest that pods need besides
    // GPUs. Null: nothing.
    const FreeGpus* now = nullptr;
  };
  // The first moment from which enough nodes have room for the whole run; of these nodes the ones
  // that are preferred, then those that have least to spare; of several that start now those that
  // are near each other (FreeGpus::find). nullopt: there is none until
  // last_start_s. O(nodes of the pool x changes on a node); of pods that differ for each change.
  // A node that the task may use only later (PlanTask::later), or that has the GPUs and not the
  // rest, has room once all its runs have ended; never, where none is known.
  std::optional<TimelinePlace> earliest(const PlanTask& task, const Wish& wish) const;

 private:
  struct Change {
    double at_s = 0;
    int gpus = 0;  // more that are free from then on
  };
  struct Line {
    int free = 0;                 // now
    std::vector<Change> changes;  // by time
    double cleared_s = 0;         // when the last of the runs of now ends
  };
  // A run of the wish may start on the node at any moment of this.
  struct Opening {
    double from_s = 0;
    double until_s = 0;
    PoolNode node = 0;
  };

  static void add_change(Line& line, double at_s, int gpus);
  void end_run(Line& line, double at_s, int gpus) const;
  std::vector<Opening> find_openings(const PlanTask& task, const Wish& wish) const;
  void add_openings(const Line& line, PoolNode node, const Wish& wish,
                    std::vector<Opening>& openings) const;
  std::vector<PoolNode> nodes_near(const PlanTask& task, const Wish& wish,
                                   const std::vector<Opening>& openings, double start_s) const;
  static std::optional<double> first_start_s(std::vector<Opening>& openings, std::size_t nodes);
  std::optional<TimelinePlace> earliest_of_mixed(const PlanTask& task, const Wish& wish) const;
  std::vector<double> moments(const Wish& wish) const;
  int least_free(const Line& line, double from_s, double until_s) const;

  double now_s_;
  std::vector<std::vector<Line>> pools_;
};

}  // namespace slackline::core

// PlacementMenu: every placement a task may be served in, predicted once for the whole task, and
// the orders in which policies go through them (000 eq 4, 10, 11, 14).
//
// A menu is made when the task is first seen, and not sorted again when part of its work is done.
// Predictions come from a profile (estimate_placements) or from a table of measured latencies: only
// the estimates differ.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "slackline/core/planning/cost.h"
#include "slackline/core/planning/free_gpus.h"
#include "slackline/core/planning/shapes.h"
#include "slackline/model/workload.h"

namespace slackline::core {

// A placement and the estimate of the task's run in it.
struct Estimate {
  PoolIndex pool = 0;
  Placement shape;
  double throughput_samples_per_s = 0;  // PR of eq 5
  double work_s = 0;                    // batch x iterations / PR: without start-up
  double startup_s = 0;                 // v of eq 4
  double error = 0;                     // standard deviation of ln(observed / predicted work)
};

struct Choice {
  PoolIndex pool = 0;
  Placement shape;
  int gpus = 0;  // m = d_node d_gpn
  double throughput_samples_per_s = 0;
  double work_s = 0;
  double startup_s = 0;
  double error = 0;  // as Estimate::error
  double lat_s = 0;  // eq 4: work_s + startup_s
  double area = 0;   // GPU-seconds: m x lat_s x weight of the pool
  double cer = 0;    // eq 11
};

using ChoiceIndex = std::uint32_t;  // into PlacementMenu::all

struct PlacementMenu {
  std::vector<Choice> all;           // pools as given, then d_node, d_gpn ascending
  std::vector<ChoiceIndex> by_cer;   // CER descending, then m, d_node
  std::vector<ChoiceIndex> by_size;  // m, d_node
  std::vector<ChoiceIndex> by_area;  // not dominated ones: area, m
  std::vector<ChoiceIndex> by_lat;   // not dominated ones: lat, m; the first is the fastest
  ChoiceIndex slow = 0;              // the longest one-GPU run; of all where a count is fixed
  double base_s = 0;                 // Lat<1,1> on the first pool that has it: norms times

  bool empty() const { return all.empty(); }
  const Choice& fastest() const { return all[by_lat.front()]; }
};

struct MenuOptions {
  double theta = kDefaultTheta;
  int fixed_gpus = 0;  // > 0: only placements of this many GPUs; if there is none, of one
};

// Dominated: another placement of the pool with no more nodes and GPUs per node is strictly faster.
// Every order is stable over `estimates`. base_s without any <1,1>: the first estimate's lat_s.
PlacementMenu make_menu(const std::vector<Estimate>& estimates, const std::vector<Pool>& pools,
                        const MenuOptions& options);

// Estimates of a workload on every pool and shape, from the profiles; none where they say nothing.
// The batch limits the shapes: at most one GPU per sample.
std::vector<Estimate> estimate_placements(const std::vector<Pool>& pools,
                                          const WorkloadProfiles& profiles, std::string_view model,
                                          double batch, double iterations,
                                          const ShapeOptions& shapes = {});

}  // namespace slackline::core

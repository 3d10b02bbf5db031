// The cost of a placement, and the throughput per cost: CER (000 eq 1, 10, 11).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slackline/model/ids.h"
#include "slackline/model/placement.h"

namespace slackline::core {

inline constexpr double kDefaultTheta = 1.0;  // weight of spread against GPU share in eq 10

// A platform <N, G> of eq 1: the nodes that offer one GPU type under one resource name.
struct Pool {
  GpuType type;           // empty: nodes whose labels tell no type
  std::string resource;   // "nvidia.com/gpu"
  int nodes = 0;          // N: ready, schedulable and readable
  int gpus_per_node = 0;  // G: the largest allocatable count
  double weight = 1.0;    // cost of the type by the catalogue
  friend bool operator==(const Pool&, const Pool&) = default;
};

// weight x (m/(N G) + theta d_node/N). +inf for an empty pool.
double placement_cost(const Pool& pool, Placement shape, double theta);

// Throughput per cost; 0 where the cost is not a positive finite number.
double cer(double throughput_samples_per_s, double cost);

// nullptr: there is no such pool. O(pools).
const Pool* find_pool(const std::vector<Pool>& pools, const GpuType& type,
                      std::string_view resource);

}  // namespace slackline::core

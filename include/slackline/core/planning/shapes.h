// The shapes that a task could run in on one pool of GPUs (000 eq 6).
#pragma once

#include <cstdint>
#include <vector>

#include "slackline/core/planning/cost.h"

namespace slackline::core {

// Whether each of this many GPUs gets a whole number of the batch's samples (eq 6). True for an
// unknown batch (0).
constexpr bool divides(std::int64_t batch, std::int64_t gpus) {
  return batch % gpus == 0;
}

// Whether the shape holds whole replicas of `model_parallel` GPUs, each on as few nodes of this
// size as it can be: within a node where a node has the GPUs, else evenly on the least number of
// nodes.
bool holds_replicas(Placement shape, int gpus_per_node, std::int64_t model_parallel);

struct ShapeOptions {
  std::int64_t batch = 0;        // only shapes with at most one GPU per sample; 0 = no such limit
  std::int64_t fixed_total = 0;  // only shapes of exactly this many GPUs; 0 = any
  bool divisible = false;        // only shapes that divide the batch (eq 6)
  // In a pool of more than 16 GPUs, leave out factors that are not a power of two, and small shapes
  // spread over nodes (d_node > 1, d_gpn < G, m <= G/2): dominated, and thousands of them.
  bool compact = true;
  std::int64_t max_gpus = 0;  // only shapes of at most this many GPUs; 0 = any
  // GPUs that share one copy of the model: `batch` counts per replica of that many, and only shapes
  // that hold whole replicas are given (holds_replicas).
  std::int64_t model_parallel = 1;
};

// Shapes of the pool by (d_node, d_gpn) ascending.
std::vector<Placement> enumerate_placements(const Pool& pool, const ShapeOptions& options);

}  // namespace slackline::core

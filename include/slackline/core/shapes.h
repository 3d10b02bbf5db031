// The shapes a task could run in, and what each would give (000 eq 3, 13-15; rows 000-03, 000-14).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "slackline/core/cost.h"
#include "slackline/core/predictor.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/snapshot.h"
#include "slackline/model/task.h"

namespace slackline::core {

// Whether each of so many GPUs gets a whole number of the batch's samples (eq 6). An unknown batch
// (0) does.
constexpr bool divides(std::int64_t batch, std::int64_t gpus) {
  return batch % gpus == 0;
}

struct ShapeOptions {
  std::int64_t batch = 0;        // only shapes with at most one GPU per sample; 0 = no such limit
  std::int64_t fixed_total = 0;  // only shapes of exactly so many GPUs; 0 = any
  bool divisible = false;        // only shapes that divide the batch (eq 6)
  // In a pool of more than 16 GPUs leave out factors that are no power of two, and small shapes
  // spread over nodes (d_node > 1, d_gpn < G, m <= G/2): dominated, and thousands of them.
  bool compact = true;
  std::int64_t max_gpus = 0;  // only shapes of at most so many GPUs; 0 = any
};

// Shapes of the pool by (d_node, d_gpn) ascending.
std::vector<Placement> enumerate_placements(const Pool& pool, const ShapeOptions& options);

struct PlacementOptions {
  const GpuCatalog* catalog = nullptr;        // required
  const Predictor* predictor = nullptr;       // required
  ShapeOptions shapes = {.divisible = true};  // batch is taken from the task
  double theta = kDefaultTheta;
  double now_wall_s = 0;
  double now_steady_s = 0;
  std::optional<double> deadline_s =
      std::nullopt;  // epoch seconds; absent: resolved from the intent
};

// One shape on one pool.
struct PlacementRow {
  Placement shape;
  GpuType gpu_type;
  std::string resource;
  std::optional<double> lat_s;  // predicted, start to finish
  std::optional<Prediction> prediction;
  double cost = 0;
  std::optional<double> cer;
  // Started now it meets the deadline (eq 15); nullopt without a deadline or a prediction.
  std::optional<bool> feasible;
  bool accepted = false;     // gpu-types permits the type
  bool fits_now = false;     // enough nodes have room now, holds and predicates respected
  bool allowed = false;      // gpu-types and placements (or the written shape) permit it
  bool written = false;      // the shape as submitted
  std::string model_source;  // the prediction's source, or "none: " and why
};

struct PlacementTable {
  std::vector<GpuType> absent;       // types of gpu-types that no usable node has
  std::optional<double> deadline_s;  // epoch seconds
  std::optional<double> lat11_s;     // Lat<1,1> on the reference type
  std::vector<PlacementRow> rows;    // by CER descending, then m, d_node, type, resource
};

PlacementTable placement_table(const ClusterSnapshot& snapshot, const Task& task,
                               const PlacementOptions& options);

}  // namespace slackline::core

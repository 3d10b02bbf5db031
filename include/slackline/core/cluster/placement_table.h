// The placement table of a task: every shape on every pool, what it would give, and whether the
// task may run in it now (000 eq 3, 13-15).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slackline/core/cluster/resizing.h"
#include "slackline/core/cluster/situation.h"
#include "slackline/core/planning/shapes.h"
#include "slackline/core/throughput/predictor.h"
#include "slackline/model/snapshot.h"
#include "slackline/model/task.h"

namespace slackline::core {

struct PlacementOptions : Situation {
  ShapeOptions shapes = {.divisible = true};  // batch is taken from the task
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
  std::optional<double> lat11_s;     // of reference_run()
  ResizingPtr resizing{};            // of a task that does not run; null: nothing is known
  std::vector<PlacementRow> rows;    // by CER descending, then m, d_node, type, resource
};

// `task.member` must be set.
PlacementTable placement_table(const ClusterSnapshot& snapshot, const Task& task,
                               const PlacementOptions& options);

}  // namespace slackline::core

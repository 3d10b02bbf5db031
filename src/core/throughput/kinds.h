// The registry's row: one kind of throughput model. Private to src/core/throughput.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "observations.h"
#include "slackline/model/placement.h"

namespace slackline::core {

struct ThroughputKind {
  std::string_view name;
  std::size_t least_points;  // observations that a fit takes
  // Whether these params, all finite, can be predicted with.
  bool (*takes)(std::span<const double> params);
  // Samples per second; params are taken, batch > 0, spread.gpus >= 1. The batch of one GPU is
  // below 1 where several GPUs share a replica of the model.
  double (*predict)(std::span<const double> params, double batch, Spread spread);
  // Params within the kind's bounds. At least `least_points` observations, and but for W two
  // different batches of one GPU, and not all of one spread unless that is one GPU. nullptr: never
  // fitted.
  std::vector<double> (*fit)(std::span<const Observation> observations, Effort effort);
};

extern const ThroughputKind kAdditive;       // "A"
extern const ThroughputKind kHybrid;         // "H"
extern const ThroughputKind kInterpolation;  // "L"
extern const ThroughputKind kLinear;         // "linear"
extern const ThroughputKind kOverlap;        // "P"
extern const ThroughputKind kContended;      // "P2"
extern const ThroughputKind kScaling;        // "W"
extern const ThroughputKind kSeedSum;        // "S"
extern const ThroughputKind kSeedMean;       // "S/mean"
extern const ThroughputKind kTable;          // "table"

// From the simplest to the richest: of equally good ones "auto" takes the first.
std::span<const ThroughputKind* const> kinds();

// nullptr: there is no such kind.
const ThroughputKind* find_kind(std::string_view name);

}  // namespace slackline::core

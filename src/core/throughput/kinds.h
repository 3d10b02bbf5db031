// The registry's row: one kind of throughput model. Private to src/core/throughput.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/placement.h"

namespace slackline::core {

// What a fit sees of a sample: positive, finite, batch >= spread.gpus >= 1.
struct Observation {
  double batch = 0;  // global
  Spread spread;
  double throughput_samples_per_s = 0;
};

struct ThroughputKind {
  std::string_view name;
  // Whether these params can be predicted with; they are finite.
  bool (*takes)(std::span<const double> params);
  // Samples per second; params are taken, batch >= spread.gpus >= 1.
  double (*predict)(std::span<const double> params, double batch, Spread spread);
  // Params within the kind's bounds, or the reason why there are none. The observations are sorted.
  Result<std::vector<double>> (*fit)(std::span<const Observation> observations);
};

// From the simplest to the richest: the order in which "auto" prefers equals.
std::span<const ThroughputKind> kinds();

// nullptr where there is no such kind.
const ThroughputKind* find_kind(std::string_view name);

extern const ThroughputKind kSeedSum;   // "S"
extern const ThroughputKind kSeedMean;  // "S/mean"
extern const ThroughputKind kTable;     // "table"

}  // namespace slackline::core

// The registry's row: one kind of throughput model. Private to src/core/throughput.
#pragma once

#include <span>
#include <string_view>

#include "slackline/model/placement.h"

namespace slackline::core {

struct ThroughputKind {
  std::string_view name;
  std::size_t params;
  // Samples per second; params are finite and as many as `params`, batch >= shape.gpus() >= 1.
  double (*predict)(std::span<const double> params, double batch, Placement shape);
};

double predict_seed_sum(std::span<const double> params, double batch, Placement shape);
double predict_seed_mean(std::span<const double> params, double batch, Placement shape);

}  // namespace slackline::core

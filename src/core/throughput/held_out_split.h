// How samples are divided into those fitted to and those predicted; see core/throughput/held_out.h.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/core/throughput/held_out.h"

namespace slackline::core {

// Indices into the samples. `predicted` of all folds are disjoint.
struct HoldOutFold {
  std::vector<std::size_t> fitted;
  std::vector<std::size_t> predicted;
};

// Each (layout, batch) from all others; one measurement from its repetitions where there is no
// other. kInvalidArgument: a single sample.
Result<std::vector<HoldOutFold>> measurement_folds(std::span<const ThroughputSample> samples);

// kInvalidArgument where there are too few layouts or batches to hold any out.
Result<std::vector<HoldOutFold>> hold_out_folds(std::span<const ThroughputSample> samples,
                                                const HoldOut& hold_out);

}  // namespace slackline::core

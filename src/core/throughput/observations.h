// The input of a fit: samples checked, sorted, and repeated measurements merged.
#pragma once

#include <span>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/placement.h"
#include "slackline/model/sample.h"

namespace slackline::core {

// All samples of one batch and one spread. Invariant: positive, finite, spread.gpus >= 1.
struct Observation {
  double batch = 0;  // global
  Spread spread;
  double throughput_samples_per_s = 0;  // geometric mean
  double weight = 1;                    // samples merged
  std::vector<double> each{};           // what these measured

  double local_batch() const { return batch / spread.gpus; }
  double iteration_s() const { return batch / throughput_samples_per_s; }
};

// By (spread, batch), each pair once; independent of the order of the samples. kInvalidArgument: no
// samples, or one that is not positive and finite or whose batch has fewer samples than the layout
// has replicas of `model_parallel` GPUs, or of as many as the sample states.
Result<std::vector<Observation>> observations_of(std::span<const ThroughputSample> samples,
                                                 int model_parallel);

// Batches within this factor of each other count as the same.
inline constexpr double kSameBatch = 1.001;

// Different batches of one GPU, ascending; those within 0.1 % are one.
std::vector<double> local_batches_of(std::span<const Observation> observations);

// How long a fit may search: from all starts to convergence; or roughly, from the first one, which
// is enough to compare kinds.
enum class Effort { kFull, kRough };

}  // namespace slackline::core

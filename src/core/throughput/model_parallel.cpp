#include "slackline/core/throughput/model_parallel.h"

#include <algorithm>

namespace slackline::core {

ModelParallel model_parallel_of(std::span<const ThroughputSample> samples) {
  ModelParallel stated;
  ModelParallel derived;
  for (const ThroughputSample& sample : samples) {
    stated.gpus = std::max(stated.gpus, sample.model_parallel);
    while (sample.batch > 0 && sample.batch * derived.gpus < sample.layout.spread().gpus &&
           derived.gpus < kMostModelParallel)
      derived.gpus *= 2;
  }
  const bool any_states =
      std::any_of(samples.begin(), samples.end(),
                  [](const ThroughputSample& sample) { return sample.model_parallel > 0; });
  if (any_states) return stated;
  derived.derived = derived.gpus > 1;
  return derived;
}

}  // namespace slackline::core

// Model parallelism: how many GPUs share one copy of a model (tensor x pipeline x context
// parallel).
//
// Kinds of models do not know it: they take the batch of one GPU, which is below 1 where a replica
// of several GPUs shares a sample. Checks and ranges count by replica.
#pragma once

#include <span>

#include "slackline/model/sample.h"

namespace slackline::core {

struct ModelParallel {
  int gpus = 1;          // of a replica
  bool derived = false;  // no sample states it
};

// Of the samples of one model and GPU type: the greatest that any of them states, else the smallest
// power of two N with batch x N >= GPUs for each of them.
ModelParallel model_parallel_of(std::span<const ThroughputSample> samples);

}  // namespace slackline::core

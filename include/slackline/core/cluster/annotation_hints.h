// What is not meant by annotations that can be read: the webhook warns of it when a Job is created,
// and whoever asks about the task is told the same.
#pragma once

#include <string>
#include <vector>

#include "slackline/core/throughput/predictor.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/snapshot.h"
#include "slackline/model/task.h"

namespace slackline::core {

// An unknown model; one whose run time is a guess by the letters of its name, or stays unknown for
// want of batch or iterations; a batch that does not divide by the GPUs of a named shape; a GPU
// type that no node of the snapshot has; a type for an expected duration that is not there. Each
// names its key and what to write.
std::vector<std::string> annotation_hints(const ClusterSnapshot& snapshot, const Task& task,
                                          const GpuCatalog& catalog, const Predictor& predictor);

}  // namespace slackline::core

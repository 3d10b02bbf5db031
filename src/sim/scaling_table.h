// Strong-scaling tables as ElasticFlow publishes them: CSV `global_batch_size,1,2,4,...`, a row for
// each batch, a column for each number of GPUs, iterations per second. Empty and 0: not measured.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/workload.h"

namespace slackline::sim {

// A profile of kind "table" (core/throughput/throughput.h): samples per second as measured, no
// start-up of its own, since the recorded durations include theirs. kInvalidArgument with line and
// column.
Result<ProfileEntry> read_scaling_table(std::string_view text, const std::string& model,
                                        const GpuType& gpu_type);

// The batches of a "table"; empty for other kinds.
std::vector<double> measured_batches(const Coefficients& coefficients);

}  // namespace slackline::sim

// Measured pairs as Gavel (OSDI'20) publishes them: {"k80": {TASK: {"null": iterations/s alone,
// OTHER: [iterations/s of TASK, iterations/s of OTHER]}}}, both on one GPU. [0, 0]: the pair did
// not run. Both directions of a pair may be there: then the geometric means count, and the pair did
// not run if either says so. A task that did not run alone is left out, and so are its pairs. A
// task may be written "('NAME', 1)"; tasks of several workers and their pairs are left out.
#pragma once

#include <string_view>

#include "slackline/base/result.h"
#include "slackline/model/pair_measurements.h"

namespace slackline::wire {

inline constexpr int kMostPairTasks = 512;

// The measurements of one GPU type; "" is the only one of the file. The error begins with the name
// of the file and says which task and field is wrong, or which types and pairs the file has.
Result<PairMeasurements> read_pairs(std::string_view text, std::string_view path,
                                    std::string_view gpu_type);

}  // namespace slackline::wire

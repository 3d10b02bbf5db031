// The ranges of a generator for each workload type: batches and numbers of iterations.
//
// The import form of a profile ({"kind": "seed", "types": {...}}) states them in `batch` and
// `iters`; a WorkloadProfile does not, so they are derived: the batches of a measured
// table, else powers of two within batch_range (of one GPU), and iterations that keep the middle
// batch busy for kShortest_s to kLongest_s on one GPU.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/workload.h"

namespace slackline::sim {

inline constexpr double kShortest_s = 600;
inline constexpr double kLongest_s = 7200;

struct DrawRange {
  std::string type;
  std::vector<double> batches;  // global; not empty
  double least_iterations = 0;  // whole numbers, both included
  double most_iterations = 0;
};

// In the order of the file. kInvalidArgument, with file, line and field, where `batch` or `iters`
// is missing or wrong, or the text is not the import form.
Result<std::vector<DrawRange>> read_draw_ranges(std::string_view text, const std::string& file);

// True where the text is a profile in the import form.
bool states_draw_ranges(std::string_view text);

// By type. Types of `gpu_type` only; one that cannot be predicted on one GPU is left out.
std::vector<DrawRange> default_draw_ranges(const WorkloadProfiles& profiles,
                                           const GpuType& gpu_type);

}  // namespace slackline::sim

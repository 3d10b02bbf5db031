// ThroughputSample: one measured speed of a model on a GPU type in a layout; what throughput models
// are fitted to.
#pragma once

#include <string>
#include <string_view>

#include "slackline/model/ids.h"
#include "slackline/model/placement.h"

namespace slackline {

inline constexpr std::size_t kMaxSource = 256;    // bytes
inline constexpr int kMostModelParallel = 65536;  // GPUs of a replica

// Where it was measured: in a calibration Job, in a finished run, or in a file that somebody
// imported.
enum class SampleOrigin { kCalibration, kRun, kImport };
std::string_view to_string(SampleOrigin origin);  // "calibration", "run", "import"

struct ThroughputSample {
  std::string model;
  GpuType gpu_type;
  double batch = 0;  // global batch, samples per iteration
  Layout layout;
  double throughput_samples_per_s = 0;
  std::string source;  // free text: where the number comes from
  SampleOrigin origin = SampleOrigin::kImport;
  // GPUs that share one copy of the model (tensor x pipeline x context parallel); 0: not stated.
  int model_parallel = 0;
  // The Job of the run that it comes from, empty where none is known. A run has at most one sample,
  // however often it is reported.
  Uid run{};
  std::string ns{};  // of that Job; empty where none is known
  friend bool operator==(const ThroughputSample&, const ThroughputSample&) = default;
};

}  // namespace slackline

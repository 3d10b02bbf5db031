// UsageSample: what one run of a task used while a window of time, as it was measured. Plain
// values, without what measured them; a window that was only partly seen says how much of it is
// missing.
#pragma once

#include <cstdint>
#include <optional>

#include "slackline/model/ids.h"

namespace slackline {

enum class UsageQuality : std::uint8_t {
  kMeasured,  // the device was the task's alone
  kShared,    // several pods on one device: the numbers are the device's, not the task's
  kUnknown,   // nothing was measured
};

struct Usage {
  double mean = 0;
  double max = 0;
  double seconds = 0;  // over these, which were really measured
};

struct UsageSample {
  ObjectKey task;
  Uid run;  // of its Job, or of its pod
  // The window, epoch seconds.
  double from_s = 0;
  double to_s = 0;
  std::optional<Usage> cpu_cores;         // per pod: mean over pods of the mean, max over pods
  std::optional<Usage> memory_bytes;      // working set, per pod likewise
  std::optional<Usage> gpu_share;         // 0..1 of a GPU, mean and max over the task's GPUs
  std::optional<Usage> gpu_memory_share;  // 0..1 of a GPU's framebuffer, likewise
  UsageQuality gpus = UsageQuality::kUnknown;
  double gap_s = 0;  // of the window, not measured
};

}  // namespace slackline

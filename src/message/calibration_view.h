// Calibration runs over REST, as plain values (as in views.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "slackline/model/ids.h"
#include "slackline/model/placement.h"

namespace slackline {

// A run that would be made of a model, one that there was, or why there is none.
struct CalibrationRow {
  std::string model;
  ObjectKey job;  // that the run is made from
  GpuType gpu_type;
  std::optional<Placement> shape;
  std::optional<std::int64_t> iterations;
  std::optional<double> bits;  // that it is expected to say
  std::string state;           // wanted, waits, runs, measured, failed, none
  std::string why;
};

// GET /v1/models/{model}/calibration
struct CalibrationView {
  double gpu_minutes_left = 0;  // of the present 24 hours, for all models
  double gpu_minutes_per_day = 0;
};

}  // namespace slackline

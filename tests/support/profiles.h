// Profile entries for tests.
#pragma once

#include <string>
#include <utility>

#include "slackline/model/workload.h"

namespace slackline::test {

inline ProfileEntry a_profile(std::string model, GpuType gpu_type, Coefficients coefficients,
                              double startup_s = 0) {
  ProfileEntry entry;
  entry.model = std::move(model);
  entry.gpu_type = std::move(gpu_type);
  entry.coefficients = std::move(coefficients);
  entry.startup_s = startup_s;
  return entry;
}

}  // namespace slackline::test

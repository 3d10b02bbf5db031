// Calibration: short runs of a training, in shapes that say most about its speed, made
// from a Job whose owner allows it (docs/CALIBRATION.md).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "slackline/model/ids.h"
#include "slackline/model/placement.h"

namespace slackline {

// The label slackline.dev/calibration of a Job.
enum class CalibrationMark : std::uint8_t {
  kNone,
  kAllowed,  // "allowed": Slackline may make calibration runs of it
  kRun,      // "run": it is one
};

// The class of these runs in history and metrics: below all that people may write.
inline constexpr std::string_view kCalibrationClass = "calibration";

// The activeDeadlineSeconds of a run that is ended.
inline constexpr std::int64_t kEndedBy_s = 1;

struct CalibrationRules {
  double gpu_minutes_per_day = 60;  // of all calibration runs of the cluster; 0: none is made
  std::int64_t iterations = 100;    // of a first run
  double idle_for_s = 300;          // that long nobody has waited before one begins
  double most_run_s = 600;          // a longer run is ended
  std::string priority_class;       // of their pods; empty: as in the Job
  std::string own_namespace{};      // Slackline's, where none is made

  friend bool operator==(const CalibrationRules&, const CalibrationRules&) = default;
};

struct Job;

// One of these runs, to be made.
struct CalibrationOrder {
  std::shared_ptr<const Job> from;  // that is copied, as long as it is this one; never null
  std::string name;
  GpuType gpu_type;
  std::string gpu_resource;
  Placement shape;
  std::int64_t iterations = 0;
  std::int64_t deadline_s = 0;  // its activeDeadlineSeconds
  std::string priority_class;   // empty: as in the Job
};

}  // namespace slackline

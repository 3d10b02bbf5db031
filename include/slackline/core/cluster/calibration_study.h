// Which calibration runs would say how fast models train that are not known (docs/CALIBRATION.md),
// and what became of those that there were.
//
// A model is unknown on a GPU type while the predictor has nothing that was measured of it there or
// elsewhere (is_of_this_model), single measurements apart. Of each model the youngest Job counts
// that has the label slackline.dev/calibration=allowed, whether it waits, runs or has ended. Its
// runs are in shapes that it allows: those of `placements` where Slackline may choose the shape,
// else as written; on each GPU type that it accepts, core/throughput/trial_shapes.h chooses them. A
// run that ended well and trained for too short a time is made again with more iterations, as is
// one of which the predictor has no measurement two minutes later; one that failed is made again
// once.
//
// Pure: the state is read from the Jobs of the snapshot.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/core/cluster/situation.h"
#include "slackline/core/planning/cost.h"
#include "slackline/model/calibration_order.h"
#include "slackline/model/snapshot.h"

namespace slackline::core {

inline constexpr int kMostTrialGpus = 16;        // of one run
inline constexpr int kMostTries = 3;             // of one shape, those that were too short included
inline constexpr double kShortTraining_s = 20;   // a shorter run is no measurement
inline constexpr double kUsefulTraining_s = 45;  // what a run is made again for
inline constexpr double kSampleComes_s = 120;    // after its end, if at all

enum class TrialState : std::uint8_t {
  kWanted,    // it would be run
  kWaits,     // the Job is there
  kRuns,      //
  kMeasured,  // nothing more to learn
  kFailed,    // too often
};
std::string_view to_string(TrialState state);  // "wanted"

struct Trial {
  JobPtr from;
  std::string model;  // workload type
  GpuType gpu_type;
  Placement shape;
  std::int64_t iterations = 0;
  std::optional<double> bits{};  // that it is expected to say; of a wanted one
  TrialState state = TrialState::kWanted;
  int tries = 0;  // before
};

// Why no run is made of a model on a GPU type, or of a Job; for people.
struct NoTrials {
  JobPtr from;
  std::string model;
  GpuType gpu_type;  // empty: on any
  std::string why;
};

struct CalibrationStudy {
  std::vector<Trial> trials;  // by model, GPU type, then in the order in which they say most
  std::vector<NoTrials> none;
};

// `model` empty: of all.
CalibrationStudy study_calibrations(const ClusterSnapshot& snapshot, const Situation& situation,
                                    const CalibrationRules& rules, std::string_view model = {});

}  // namespace slackline::core

// The QosDeadline of a task: a promise, resolved once (000 eq 9; design: "Deadlines").
#pragma once

#include <optional>

#include "slackline/model/task_intent.h"
#include "slackline/model/workload.h"

namespace slackline::core {

// Added to a deadline wherever something is held against it: rounding is no lateness.
inline constexpr double kDeadlineTolerance_s = 1e-3;

// kappa of eq 9, in multiples of Lat<1,1>.
struct DeadlineFactors {
  double urgent = 0.0;
  double prior = 1.0;
  double normal = 2.0;
};

// Epoch seconds. An explicit `deadline`, then `deadline-after`, win over the class; the class needs
// lat11_s, else there is no deadline at all: best effort.
std::optional<double> resolve_deadline(const TaskIntent& intent, double created_s,
                                       std::optional<double> lat11_s,
                                       const DeadlineFactors& factors = {});

// Lat<1,1> of the intent on the reference type: the slowest of `types` that has a profile.
std::optional<double> reference_lat_s(const TaskIntent& intent, const WorkloadProfiles& profiles,
                                      const std::vector<GpuType>& types);

}  // namespace slackline::core

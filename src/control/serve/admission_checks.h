// The webhook's refusals and their texts. Pure; private to serve/.
//
// Reasons: ReservedKey (Slackline's keys, written by somebody else), UnknownClass, Unreadable (a
// shape, a duration, a time, a list of GPU types or of Jobs), DeadlinePast, UrgentNotAllowed,
// DependencyCycle, QueueFull. On an update only what it changes is judged.
#pragma once

#include <string>
#include <vector>

#include "control/serve/admission.h"

namespace slackline::control {

// In the order above. `desired` (admission_changes.h): Slackline's keys may have the values that
// Slackline would write.
std::vector<Refusal> find_refusals(const AdmissionReview& review, const AdmissionFacts& facts,
                                   const AdmissionChanges& desired);

// Problems of the annotations that do not block the object, as warnings.
std::vector<std::string> harmless_problems(const AdmissionReview& review);

}  // namespace slackline::control

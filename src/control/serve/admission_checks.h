// What the webhook refuses, and in which words. Pure; private to serve/.
//
// Reasons: ReservedKey (our own keys, written by somebody else), UnknownClass, Unreadable (a shape,
// a duration, a time, a list of GPU types or of Jobs), DeadlinePast, UrgentNotAllowed,
// DependencyCycle, QueueFull. On an update only what it changes is judged.
#pragma once

#include <string>
#include <vector>

#include "control/serve/admission.h"

namespace slackline::control {

// In the order above. `wishes` (admission_changes.h): our own keys may carry what we would write.
std::vector<Refusal> find_refusals(const AdmissionReview& review, const AdmissionFacts& facts,
                                   const AdmissionChanges& wishes);

// Problems of the annotations that block nothing, as warnings.
std::vector<std::string> harmless_problems(const AdmissionReview& review);

}  // namespace slackline::control

// The desired state of an object, and the changes that lead to it. Pure; private to serve/.
#pragma once

#include "control/serve/admission.h"

namespace slackline::control {

// The desired state of a managed object, whatever its present state. Empty for others.
AdmissionChanges desired_changes(const AdmissionReview& review, const AdmissionFacts& facts);

// The part of the desired state that does not hold yet.
AdmissionChanges changes_of(const AdmissionReview& review, const AdmissionChanges& desired);

}  // namespace slackline::control

// What the webhook wants an object to be, and what has to change for that. Pure; private to serve/.
#pragma once

#include "control/serve/admission.h"

namespace slackline::control {

// What an object in our care is to look like, whatever it looks like now. Nothing for the others.
AdmissionChanges wishes_for(const AdmissionReview& review, const AdmissionFacts& facts);

// The part of the wishes that does not hold yet.
AdmissionChanges changes_of(const AdmissionReview& review, const AdmissionChanges& wishes);

}  // namespace slackline::control

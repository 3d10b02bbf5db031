// The webhook's proof that it allowed an object: the annotation `admitted` (model/admitted.h), on
// Jobs, and on pods without a Job. Pure; private to serve/.
#pragma once

#include <optional>

#include "control/serve/admission.h"

namespace slackline::control {

// True if the object carries Slackline's proof for this user, class and queue, and no other object
// shows the same one.
bool carries_proof(const AdmissionReview& review, const AdmissionFacts& facts);

// True if the object had a proof before this update that it may be urgent.
bool was_proven_urgent(const AdmissionReview& review, const AdmissionFacts& facts);

// True if the object needs a new one: at its creation, and when class or queue change. Not on a dry
// run: it would be a proof without an object.
bool needs_proof(const AdmissionReview& review);

// The proof to write; nothing if none is needed, if urgent was not granted, or without a key.
std::optional<AdmittedNote> proof_for(const AdmissionReview& review, const AdmissionFacts& facts);

}  // namespace slackline::control

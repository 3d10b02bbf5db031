// The proof that the webhook leaves on what it allowed: the annotation `admitted`
// (model/admitted.h), on Jobs, and on pods that are no Job's. Pure; private to serve/.
#pragma once

#include <optional>

#include "control/serve/admission.h"

namespace slackline::control {

// True where the object carries a proof of ours for this very user, class and queue, which no
// other object shows.
bool carries_proof(const AdmissionReview& review, const AdmissionFacts& facts);

// True where the object had a proof before this update that it may be urgent.
bool was_proven_urgent(const AdmissionReview& review, const AdmissionFacts& facts);

// True where the object is to carry a new one: at its creation, and where class or queue change.
// Not on a dry run: it would be a proof without an object.
bool needs_proof(const AdmissionReview& review);

// What to write; nothing where none is needed, where urgent was not granted, or without a key.
std::optional<AdmittedNote> proof_for(const AdmissionReview& review, const AdmissionFacts& facts);

}  // namespace slackline::control

// The parts of the webhook's decision (admission.h): what an object should be, what is refused, and
// the proof that it was allowed. Pure; private to serve/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/serve/admission.h"

namespace slackline::control {

// The desired state of a managed object, whatever its present state. Empty for others.
AdmissionChanges desired_changes(const AdmissionReview& review, const AdmissionFacts& facts);

// The part of the desired state that does not hold yet.
AdmissionChanges changes_of(const AdmissionReview& review, const AdmissionChanges& desired);

// The refusals with their texts, in this order: ReservedKey (Slackline's keys, written by somebody
// else), UnknownClass, Unreadable (a shape, a duration, a time, a list of GPU types or of Jobs),
// DeadlinePast, UrgentNotAllowed, QueueNotAllowed, DependencyCycle, QueueFull. On an update only
// what it changes is judged. `desired`: Slackline's keys may have the values that Slackline would
// write.
std::vector<Refusal> find_refusals(const AdmissionReview& review, const AdmissionFacts& facts,
                                   const AdmissionChanges& desired);

// Problems of the annotations that do not block the object, as warnings.
std::vector<std::string> harmless_problems(const AdmissionReview& review);

// The proof is the annotation `admitted` (model/admitted.h) of Jobs, and of pods without a Job.

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

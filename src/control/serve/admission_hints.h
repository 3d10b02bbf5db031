// The webhook's warnings, which refuse nothing. Pure; private to serve/.
#pragma once

#include <string>
#include <vector>

#include "control/serve/admission.h"

namespace slackline::control {

// An update took the Job out of Slackline's queue, and was undone.
std::string stays_queued(const AdmissionReview& review);

// An update removed Slackline's label or gate from a managed task, and was undone.
std::string stays_in_care();

// An update of a running Job changed these fields, which Slackline keeps.
std::string counts_later(const std::vector<std::string>& fields);

// An update asked for this parallelism of a running Job and nothing else; it has as many pods.
std::string stays_together(std::int64_t wanted, std::int64_t pods);

// An update wrote another deadline beside what the present one follows, or took it out, and was
// undone. Empty: it did not.
std::string deadline_stays(const AdmissionReview& review, const AdmissionChanges& changes);

// A new Job that its author has suspended.
std::string joins_when_resumed(const AdmissionReview& review);

// What the runs of its family used, where that is less than it asks for or more (resizing.h); an
// unknown model; dependencies that failed or are not there; a time limit that counts while pods
// wait; a deadline that no allowed shape on
// any acceptable GPU type of this cluster meets even if it started now, with the earliest finish
// there is. Waiting is not counted. A class is not a promise that could be infeasible: only
// `deadline` and `deadline-after` are compared with the prediction.
std::vector<std::string> find_hints(const AdmissionReview& review, const AdmissionFacts& facts);

}  // namespace slackline::control

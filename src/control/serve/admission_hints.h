// What the webhook tells a researcher without refusing anything. Pure; private to serve/.
#pragma once

#include <string>
#include <vector>

#include "control/serve/admission.h"

namespace slackline::control {

// That an update took the Job out of our queue, which was taken back.
std::string stays_queued(const AdmissionReview& review);

// That an update took our label or gate off a task in our care, which was put back.
std::string stays_in_care();

// A model that nobody knows; dependencies that failed or are not there; a deadline that no allowed
// shape on any acceptable GPU type of this cluster meets even if it started now, with the earliest
// finish there is. Waiting is not counted, and a class is no promise that could be infeasible: only
// `deadline` and `deadline-after` are held against the prediction.
std::vector<std::string> find_hints(const AdmissionReview& review, const AdmissionFacts& facts);

}  // namespace slackline::control

// Who is who in a review: which objects are in our care, and whose word is taken. Private to
// serve/.
#pragma once

#include <string>
#include <string_view>

#include "control/serve/admission.h"
#include "slackline/model/contract.h"

namespace slackline::control {

// Null where the review is not about one.
inline const ReviewedJob* job_in(const AdmissionReview& review) {
  return std::get_if<ReviewedJob>(&review.object);
}
inline const ReviewedPod* pod_in(const AdmissionReview& review) {
  return std::get_if<ReviewedPod>(&review.object);
}
inline const ReviewedJob* old_job_in(const AdmissionReview& review) {
  return std::get_if<ReviewedJob>(&review.old_object);
}
inline const ReviewedPod* old_pod_in(const AdmissionReview& review) {
  return std::get_if<ReviewedPod>(&review.old_object);
}

// True where a Job of this kind is suspended at its creation to queue it.
bool is_queued(const ReviewedJob& job);

// True where a pod of this kind is gated at its creation: one that carries our label, or that
// nothing controls; which namespaces are managed, the webhook configuration's selectors have seen
// to.
bool is_gated(const ReviewedPod& pod);

// A Job that was admitted before: its template carries our label.
bool was_admitted(const ReviewedJob& job);

// A Job that we suspended and that has not had its turn.
bool waits_with_us(const ReviewedJob& job);

// We ourselves; for pods also the controllers that copy a template, which was checked.
bool may_write_our_keys(const AdmissionReview& review, const AdmissionFacts& facts);

// What people wrote about the object, or nothing.
TaskIntent intent_of(const AdmissionReview& review);

}  // namespace slackline::control

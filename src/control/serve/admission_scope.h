// Which objects of a review Slackline manages, and whose writes it accepts. Private to serve/.
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

// True where a Job of this kind is suspended at its creation to queue it, or, where its author has
// suspended it, once it is resumed.
bool is_queued(const ReviewedJob& job);

// Suspended, and not by Slackline.
bool is_held_by_user(const ReviewedJob& job);

// An update that resumes a Job which somebody had suspended: it waits in the queue instead. Asked
// again, of the object with Slackline's change of it, the answer is the same.
bool joins_queue(const AdmissionReview& review);

// True if a pod of this kind is gated at its creation: one that carries Slackline's label, that
// nothing controls, or that a controller makes as part of a gang (docs/GANGS.md). Which namespaces
// are managed, the webhook configuration's selectors have seen to.
bool is_gated(const ReviewedPod& pod);

// Of the launcher of an MPIJob, which asks for no GPU: without its workers it fails. It is gated
// and nothing else; no rule of a queue applies to it.
bool is_gated_launcher(const ReviewedPod& pod);

// A Job whose pods are gated as part of a gang, a JobSet's: it is neither suspended nor changed,
// and has the class and the queue of its pods. What has begun, its controller goes on with.
bool is_of_gang(const ReviewedJob& job);

// Made by a controller of gangs, of a template that people wrote once.
bool is_of_gang(const AdmissionReview& review);

// A Job that was admitted before: its template carries Slackline's label.
bool was_admitted(const ReviewedJob& job);

// A Job that Slackline suspended and has not released.
bool waits_with_us(const ReviewedJob& job);

// Managed: admitted before, or waiting in the queue.
bool is_in_care(const ReviewedJob& job);

// True if the rules of Slackline's queues apply to the object: if it is queued or gated at its
// creation, is a Job of a gang or one whose template carries Slackline's label, or, on an update,
// was managed before or is afterwards.
bool is_judged(const AdmissionReview& review);

// A Job in Slackline's queue, a bare pod behind its gate, or a part of a gang whose pods are there:
// now, or once it is created.
bool waits_in_queue(const AdmissionReview& review);

// We ourselves; for pods also the controllers that copy a template, which was checked.
bool may_write_our_keys(const AdmissionReview& review, const AdmissionFacts& facts);

// The intent that people wrote for the object, if any; and the one before this update.
TaskIntent intent_of(const AdmissionReview& review);
TaskIntent old_intent_of(const AdmissionReview& review);

// Which class and queue that is.
QosClass class_of(const TaskIntent& intent);
bool moves_class(const AdmissionReview& review);
bool moves_queue(const AdmissionReview& review);

}  // namespace slackline::control

#include <algorithm>

#include "control/serve/admission_rules.h"
#include "control/serve/admission_scope.h"
#include "slackline/model/mac.h"

namespace slackline::control {
namespace {

using Object = decltype(AdmissionReview::object);

const AdmittedNote* note_in(const Object& object) {
  if (const auto* job = std::get_if<ReviewedJob>(&object)) return job->job.admitted.get();
  if (const auto* pod = std::get_if<ReviewedPod>(&object)) return pod->pod.admitted.get();
  return nullptr;
}

Uid uid_in(const Object& object) {
  if (const auto* job = std::get_if<ReviewedJob>(&object)) return job->job.uid;
  if (const auto* pod = std::get_if<ReviewedPod>(&object)) return pod->pod.uid;
  return {};
}

bool has_key(const AdmissionFacts& facts) {
  return facts.authenticator != nullptr && facts.authenticator->ready();
}

bool shown_by_another(const AdmittedNote& note, const Uid& uid, const ClusterSnapshot& snapshot) {
  const auto shows = [&](const auto& object) {
    return object->admitted && object->admitted->nonce == note.nonce && object->uid != uid;
  };
  return std::any_of(snapshot.jobs.begin(), snapshot.jobs.end(), shows) ||
         std::any_of(snapshot.unbound.begin(), snapshot.unbound.end(), shows);
}

// A Job's proof covers its pods.
bool may_carry_proof(const AdmissionReview& review) {
  if (job_in(review) != nullptr) return true;
  const ReviewedPod* pod = pod_in(review);
  return pod != nullptr && !(pod->pod.owner && pod->pod.owner->kind == "Job");
}

}  // namespace

bool carries_proof(const AdmissionReview& review, const AdmissionFacts& facts) {
  const AdmittedNote* note = note_in(review.object);
  const TaskIntent intent = intent_of(review);
  return note != nullptr && has_key(facts) && may_carry_proof(review) &&
         note->submitter == review.user.name && note->qos_class == class_of(intent) &&
         note->queue == queue_of(intent, review.ns) &&
         is_authentic(*note, review.ns, *facts.authenticator) &&
         !shown_by_another(*note, uid_in(review.object), *facts.snapshot);
}

bool was_proven_urgent(const AdmissionReview& review, const AdmissionFacts& facts) {
  const AdmittedNote* note = note_in(review.old_object);
  return note != nullptr && has_key(facts) && note->qos_class == QosClass::kUrgent &&
         is_authentic(*note, review.ns, *facts.authenticator) &&
         !shown_by_another(*note, uid_in(review.old_object), *facts.snapshot);
}

bool needs_proof(const AdmissionReview& review) {
  if (review.dry_run || !is_judged(review) || !may_carry_proof(review)) return false;
  return review.operation == AdmissionOperation::kCreate || moves_class(review) ||
         moves_queue(review);
}

namespace {

// The controllers of Kubernetes copy templates that nobody was asked about.
bool takes_a_queue_unasked(const AdmissionReview& review, const AdmissionFacts& facts) {
  const std::string queue = queue_of(intent_of(review), review.ns);
  return may_write_our_keys(review, facts) && facts.queues != nullptr && queue != review.ns &&
         facts.queues->named.contains(queue);
}

}  // namespace

std::optional<AdmittedNote> proof_for(const AdmissionReview& review, const AdmissionFacts& facts) {
  if (!has_key(facts) || facts.nonce.empty() || !needs_proof(review)) return std::nullopt;
  if (review.operation != AdmissionOperation::kCreate && may_write_our_keys(review, facts))
    return std::nullopt;
  const TaskIntent intent = intent_of(review);
  const QosClass qos = class_of(intent);
  if (qos == QosClass::kUrgent && facts.urgent != UseRight::kGranted &&
      !was_proven_urgent(review, facts))
    return std::nullopt;
  if (!queue_to_use(review, facts).empty() && facts.queue != UseRight::kGranted)
    return std::nullopt;
  if (takes_a_queue_unasked(review, facts)) return std::nullopt;
  return sign_admission(*facts.authenticator, review.ns, review.user.name, qos,
                        queue_of(intent, review.ns), facts.nonce);
}

}  // namespace slackline::control

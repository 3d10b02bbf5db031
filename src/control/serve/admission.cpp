#include "control/serve/admission.h"

#include <utility>

#include "control/serve/admission_changes.h"
#include "control/serve/admission_checks.h"
#include "control/serve/admission_hints.h"
#include "control/serve/admission_scope.h"
#include "slackline/base/text.h"

namespace slackline::control {
namespace {

bool creates(const AdmissionReview& review) {
  return review.operation == AdmissionOperation::kCreate;
}

// One answer for all that is wrong, under the first reason.
Refusal joined(const std::vector<Refusal>& refusals) {
  std::vector<std::string> messages;
  for (const Refusal& refusal : refusals)
    messages.push_back(refusal.message);
  return {refusals.front().reason, join(messages, "; ")};
}

bool is_urgent(const TaskIntent* intent) {
  return intent != nullptr && intent->qos_class == QosClass::kUrgent;
}

// Whether this update touches the promise, so that it is worth being held against the prediction.
bool moves_deadline(const AdmissionReview& review) {
  const ReviewedJob* job = job_in(review);
  const ReviewedJob* old = old_job_in(review);
  if (job == nullptr || old == nullptr || !was_admitted(*job)) return false;
  const std::string* before = old->keys.annotation(contract::kDeadline);
  const std::string* after = job->keys.annotation(contract::kDeadline);
  return after != nullptr && (before == nullptr || *before != *after);
}

bool deserves_hints(const AdmissionReview& review) {
  const ReviewedJob* job = job_in(review);
  return creates(review) ? job != nullptr && is_queued(*job) : moves_deadline(review);
}

}  // namespace

AdmissionDecision decide_admission(const AdmissionReview& review, AdmissionStage stage,
                                   const AdmissionFacts& facts) {
  AdmissionDecision decision;
  const bool mutates = stage == AdmissionStage::kMutate;
  const AdmissionChanges wishes = wishes_for(review, facts);
  // An update is judged as it will be stored, after our own change of it.
  if (creates(review) || !mutates) {
    const std::vector<Refusal> refusals = find_refusals(review, facts, wishes);
    if (!refusals.empty()) {
      decision.refusal = joined(refusals);
      return decision;
    }
  }
  if (mutates) {
    decision.changes = changes_of(review, wishes);
    if (decision.changes.suspend && !creates(review))
      decision.warnings.push_back(stays_queued(review));
  } else if (deserves_hints(review)) {
    decision.warnings = find_hints(review, facts);
    if (creates(review))
      for (std::string& problem : harmless_problems(review))
        decision.warnings.push_back(std::move(problem));
  }
  return decision;
}

bool asks_for_urgent(const AdmissionReview& review, const AdmissionFacts& facts) {
  if (intent_of(review).qos_class != QosClass::kUrgent || may_write_our_keys(review, facts))
    return false;
  const ReviewedJob* job = job_in(review);
  const ReviewedPod* pod = pod_in(review);
  if (creates(review))
    return (job != nullptr && is_queued(*job)) || (pod != nullptr && is_gated(*pod));
  const ReviewedJob* old_job = old_job_in(review);
  if (job != nullptr && old_job != nullptr)
    return was_admitted(*job) && !is_urgent(old_job->job.intent.get());
  const ReviewedPod* old_pod = old_pod_in(review);
  return pod != nullptr && old_pod != nullptr && pod->pod.managed &&
         !is_urgent(old_pod->pod.intent.get());
}

std::string queue_to_count(const AdmissionReview& review, const AdmissionFacts& facts) {
  const ReviewedJob* job = job_in(review);
  if (facts.max_pending == 0 || !facts.trusted || !creates(review) || job == nullptr ||
      !is_queued(*job))
    return {};
  return queue_of(intent_of(review), review.ns);
}

}  // namespace slackline::control

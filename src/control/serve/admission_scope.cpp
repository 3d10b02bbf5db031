#include "control/serve/admission_scope.h"

#include <algorithm>

namespace slackline::control {
namespace {

constexpr std::string_view kControllers = "system:serviceaccount:kube-system:";
constexpr std::string_view kControllerManager = "system:kube-controller-manager";

bool has_foreign_gates(const PodFacts& pod) {
  return std::any_of(pod.gates.begin(), pod.gates.end(),
                     [](const std::string& gate) { return gate != contract::kGate; });
}

// Nobody else decides when it may be bound, and it is not.
bool takes_our_gate(const ReviewedPod& pod) {
  return !pod.pod.bound() && !pod.kueue && !has_foreign_gates(pod.facts) &&
         !pod.facts.has_scheduling_group;
}

// Of an MPIJob, whose Job is a member of its gang and no task.
bool launches_gang(const ReviewedPod& pod) {
  return pod.launches && pod.pod.owner && pod.pod.owner->kind == "Job";
}

TaskIntent intent_in(const decltype(AdmissionReview::object)& object) {
  if (const auto* job = std::get_if<ReviewedJob>(&object); job != nullptr && job->job.intent)
    return *job->job.intent;
  if (const auto* pod = std::get_if<ReviewedPod>(&object); pod != nullptr && pod->pod.intent)
    return *pod->pod.intent;
  return {};
}

}  // namespace

bool is_queued(const ReviewedJob& job) {
  return job.job.is_for_queue() && !job.job.started_s;
}

bool is_held_by_user(const ReviewedJob& job) {
  return job.job.suspended && !job.job.suspended_by_us;
}

bool joins_queue(const AdmissionReview& review) {
  const ReviewedJob* job = job_in(review);
  const ReviewedJob* old = old_job_in(review);
  if (review.operation != AdmissionOperation::kUpdate || job == nullptr || old == nullptr)
    return false;
  const bool resumed = !job->job.suspended || job->job.suspended_by_us;
  return is_held_by_user(*old) && resumed && was_admitted(*old) && old->job.is_for_queue() &&
         !old->job.finished && !old->job.deleting;
}

bool is_gated(const ReviewedPod& pod) {
  return (pod.pod.managed || !pod.pod.owner || pod.pod.owner_gang || launches_gang(pod)) &&
         pod.pod.requests.wants_gpus() && takes_our_gate(pod);
}

bool is_gated_launcher(const ReviewedPod& pod) {
  const bool labelled = pod.pod.intent && pod.pod.intent->gang;
  return launches_gang(pod) && !labelled && !pod.pod.requests.wants_gpus() && takes_our_gate(pod);
}

bool is_of_gang(const ReviewedJob& job) {
  return job.job.owner_gang && job.job.pod_requests.wants_gpus() && !job.job.kueue &&
         !job.job.holds_pods && !job.job.started_s;
}

bool is_of_gang(const AdmissionReview& review) {
  const ReviewedJob* job = job_in(review);
  const ReviewedPod* pod = pod_in(review);
  return (job != nullptr && job->job.owner_gang) || (pod != nullptr && pod->pod.owner_gang);
}

bool was_admitted(const ReviewedJob& job) {
  const std::string* label = job.pod.keys.label(contract::kManagedLabel);
  return label != nullptr && *label == "true";
}

bool waits_with_us(const ReviewedJob& job) {
  return job.job.waits_with_us();
}

bool is_in_care(const ReviewedJob& job) {
  return was_admitted(job) || waits_with_us(job);
}

bool is_judged(const AdmissionReview& review) {
  const ReviewedJob* job = job_in(review);
  const ReviewedPod* pod = pod_in(review);
  if (review.operation == AdmissionOperation::kCreate) {
    if (job == nullptr) return pod != nullptr && is_gated(*pod);
    return is_queued(*job) || is_of_gang(*job) ||
           (was_admitted(*job) && job->job.pod_requests.wants_gpus() && !job->job.kueue);
  }
  const ReviewedJob* old_job = old_job_in(review);
  if (job != nullptr && old_job != nullptr) return is_in_care(*old_job) || is_in_care(*job);
  const ReviewedPod* old_pod = old_pod_in(review);
  return pod != nullptr && old_pod != nullptr && (old_pod->pod.managed || pod->pod.managed);
}

bool waits_in_queue(const AdmissionReview& review) {
  const ReviewedJob* job = job_in(review);
  const ReviewedPod* pod = pod_in(review);
  if (review.operation == AdmissionOperation::kCreate)
    return (job != nullptr && (is_queued(*job) || is_of_gang(*job)) && !is_held_by_user(*job)) ||
           (pod != nullptr && (!pod->pod.owner || pod->pod.owner_gang) && is_gated(*pod));
  const ReviewedJob* old_job = old_job_in(review);
  if (job != nullptr && old_job != nullptr) return waits_with_us(*old_job) || joins_queue(review);
  const ReviewedPod* old_pod = old_pod_in(review);
  return pod != nullptr && old_pod != nullptr && (!pod->pod.owner || pod->pod.owner_gang) &&
         old_pod->pod.our_gate && !old_pod->pod.bound();
}

bool may_write_our_keys(const AdmissionReview& review, const AdmissionFacts& facts) {
  const std::string& name = review.user.name;
  if (!name.empty() && name == facts.own_user) return true;
  return pod_in(review) != nullptr &&
         (name == kControllerManager || name.starts_with(kControllers));
}

TaskIntent intent_of(const AdmissionReview& review) {
  return intent_in(review.object);
}

TaskIntent old_intent_of(const AdmissionReview& review) {
  return intent_in(review.old_object);
}

QosClass class_of(const TaskIntent& intent) {
  return intent.qos_class.value_or(QosClass::kNormal);
}

bool moves_class(const AdmissionReview& review) {
  return class_of(intent_of(review)) != class_of(old_intent_of(review));
}

bool moves_queue(const AdmissionReview& review) {
  return queue_of(intent_of(review), review.ns) != queue_of(old_intent_of(review), review.ns);
}

}  // namespace slackline::control

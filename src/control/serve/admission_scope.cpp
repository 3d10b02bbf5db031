#include "control/serve/admission_scope.h"

#include <algorithm>

namespace slackline::control {
namespace {

constexpr std::string_view kControllers = "system:serviceaccount:kube-system:";
constexpr std::string_view kControllerManager = "system:kube-controller-manager";

bool suspended_by_others(const ReviewedJob& job) {
  const std::string* by = job.keys.annotation(contract::kSuspendedBy);
  return job.job.suspended && (by == nullptr || *by != contract::kSuspendedByUs);
}

bool has_foreign_gates(const PodFacts& pod) {
  return std::any_of(pod.gates.begin(), pod.gates.end(),
                     [](const std::string& gate) { return gate != contract::kGate; });
}

}  // namespace

bool is_queued(const ReviewedJob& job) {
  const bool topmost = !job.job.owner || job.job.owner->kind == "CronJob";
  return topmost && job.job.pod_requests.wants_gpus() && !job.kueue && !job.started &&
         !suspended_by_others(job) && job.pod.gates.empty() && !job.pod.has_scheduling_group;
}

bool is_gated(const ReviewedPod& pod) {
  return (pod.pod.managed || !pod.pod.owner) && pod.pod.requests.wants_gpus() && !pod.pod.bound() &&
         !pod.kueue && !has_foreign_gates(pod.facts) && !pod.facts.has_scheduling_group;
}

bool was_admitted(const ReviewedJob& job) {
  const std::string* label = job.pod.keys.label(contract::kManagedLabel);
  return label != nullptr && *label == "true";
}

bool waits_with_us(const ReviewedJob& job) {
  return job.job.suspended && job.job.suspended_by_us && !job.job.finished;
}

bool may_write_our_keys(const AdmissionReview& review, const AdmissionFacts& facts) {
  const std::string& name = review.user.name;
  if (!name.empty() && name == facts.own_user) return true;
  return pod_in(review) != nullptr &&
         (name == kControllerManager || name.starts_with(kControllers));
}

TaskIntent intent_of(const AdmissionReview& review) {
  if (const ReviewedJob* job = job_in(review); job != nullptr && job->job.intent)
    return *job->job.intent;
  if (const ReviewedPod* pod = pod_in(review); pod != nullptr && pod->pod.intent)
    return *pod->pod.intent;
  return {};
}

}  // namespace slackline::control

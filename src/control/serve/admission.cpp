#include "control/serve/admission.h"

#include <algorithm>
#include <set>
#include <utility>

#include "control/serve/admission_hints.h"
#include "control/serve/admission_kept.h"
#include "control/serve/admission_rules.h"
#include "control/serve/admission_scope.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/not_in_queue.h"
#include "slackline/core/cluster/task_catalog.h"

namespace slackline::control {
namespace {

constexpr std::string_view kGangLabel = "slackline.dev/gang";
constexpr std::string_view kGangSize = "slackline.dev/gang-size";

bool creates(const AdmissionReview& review) {
  return review.operation == AdmissionOperation::kCreate;
}

// One answer for all problems, under the first reason.
Refusal joined(const std::vector<Refusal>& refusals) {
  std::vector<std::string> messages;
  for (const Refusal& refusal : refusals)
    messages.push_back(refusal.message);
  return {refusals.front().reason, join(messages, "; ")};
}

// Urgent before this update, while Slackline managed it: otherwise the right is checked again.
bool was_urgent_with_us(const AdmissionReview& review) {
  const ReviewedJob* job = old_job_in(review);
  const ReviewedPod* pod = old_pod_in(review);
  return ((job != nullptr && is_in_care(*job)) || (pod != nullptr && pod->pod.managed)) &&
         class_of(old_intent_of(review)) == QosClass::kUrgent;
}

// The update removed a mark of Slackline, which is restored.
bool was_leaving(const AdmissionChanges& changes) {
  return changes.gate || !changes.labels.empty() || !changes.template_labels.empty();
}

// Whether this update changes the promise, so that it must be compared with the prediction.
bool moves_deadline(const AdmissionReview& review) {
  const ReviewedJob* job = job_in(review);
  const ReviewedJob* old = old_job_in(review);
  if (job == nullptr || old == nullptr || !is_in_care(*job)) return false;
  const std::string* before = old->keys.annotation(contract::kDeadline);
  const std::string* after = job->keys.annotation(contract::kDeadline);
  return after != nullptr && (before == nullptr || *before != *after);
}

// Its Job was counted, or its template is no task. Of a gang nobody has asked before its first pod.
bool is_counted_elsewhere(const AdmissionReview& review, const AdmissionFacts& facts) {
  const ReviewedPod* pod = pod_in(review);
  const bool of_gang = pod != nullptr && pod->pod.owner_gang && pod->pod.owner->kind != "Job";
  return may_write_our_keys(review, facts) && !of_gang;
}

// What people wrote for Slackline on a Job that it leaves alone.
std::set<std::string> written_on(const ReviewedJob& job) {
  std::set<std::string> keys;
  for (const ContractKeys* written : {&job.keys, &job.pod.keys})
    for (const auto& [key, value] : written->annotations)
      if (key.starts_with(contract::kPrefix) && !contract::reserved(key)) keys.insert(key);
  return keys;
}

// Of a gang's keys those that do not count on this Job, and why.
std::pair<std::set<std::string>, std::string> gang_without_effect(const ReviewedJob& job) {
  const bool labelled = job.pod.keys.label(kGangLabel) != nullptr;
  const bool as_whole = !core::starts_one_by_one(job.job);
  std::set<std::string> keys;
  if (labelled && as_whole) keys.emplace(kGangLabel);
  for (const ContractKeys* written : {&job.keys, &job.pod.keys})
    if (written->annotation(kGangSize) != nullptr && (as_whole || !labelled))
      keys.emplace(kGangSize);
  if (as_whole)
    return {keys,
            "the Job starts as a whole, and by itself; Jobs that start together are those of "
            "a JobSet"};
  return {keys, format("the pods of the Job have no label {}", kGangLabel)};
}

bool refuses_management(const ContractKeys& keys) {
  const std::string* label = keys.label(contract::kManagedLabel);
  return label != nullptr && *label != "true";
}

std::string stays_managed() {
  return format(
      "{}: without effect: the label of the namespace counts; to run the Job without "
      "Slackline create it in a namespace that does not have it",
      contract::kManagedLabel);
}

// Of what people wrote for Slackline, what does not count: all of it on a Job that it leaves alone.
std::vector<std::string> without_effect(const ReviewedJob& job) {
  if (job.job.owner && job.job.owner->kind != "CronJob") return {};
  std::vector<std::string> warnings;
  const auto warn = [&](const std::set<std::string>& keys, const std::string& why) {
    if (!keys.empty())
      warnings.push_back(
          format("{}: without effect: {}", join({keys.begin(), keys.end()}, ", "), why));
  };
  std::string others = core::why_left_to_others(job.job);
  if (others.empty() && !job.job.pod_requests.wants_gpus()) others = "asks for no GPU";
  if (!others.empty()) {
    warn(written_on(job), "Slackline does not queue the Job, which " + others);
    return warnings;
  }
  const auto [keys, why] = gang_without_effect(job);
  warn(keys, why);
  if (refuses_management(job.keys)) warnings.push_back(stays_managed());
  return warnings;
}

bool deserves_hints(const AdmissionReview& review) {
  const ReviewedJob* job = job_in(review);
  return creates(review) ? job != nullptr && is_queued(*job) : moves_deadline(review);
}

std::string is_left_to(const std::string& scheduler, const AdmissionFacts& facts) {
  return format(
      "schedulerName: {} does not ask Slackline, which leaves this to it: it is not queued, and no "
      "deadline is kept; leave the name out, or write {}",
      printable(scheduler, 64), join(facts.scheduler_names, " or "));
}

}  // namespace

AdmissionDecision decide_admission(const AdmissionReview& review, AdmissionStage stage,
                                   const AdmissionFacts& facts) {
  AdmissionDecision decision;
  const bool mutates = stage == AdmissionStage::kMutate;
  const std::string foreign = foreign_scheduler(review, facts);
  AdmissionChanges desired = foreign.empty() ? desired_changes(review, facts) : AdmissionChanges();
  if (!mutates || carries_proof(review, facts)) desired.admitted.reset();
  // An update is judged as it will be stored, after Slackline's own change of it.
  if (creates(review) || !mutates) {
    const std::vector<Refusal> refusals = find_refusals(review, facts, desired);
    if (!refusals.empty()) {
      decision.refusal = joined(refusals);
      return decision;
    }
  }
  if (mutates) {
    decision.changes = changes_of(review, desired);
    if (decision.changes.suspend && !creates(review))
      decision.warnings.push_back(stays_queued(review));
    if (decision.changes.kept.pods || decision.changes.original) {
      const KeptOfUpdate kept = kept_of(*old_job_in(review), *job_in(review));
      if (!kept.later.empty()) decision.warnings.push_back(counts_later(kept.later));
      if (kept.alone)
        decision.warnings.push_back(stays_together(*kept.alone, *decision.changes.kept.pods));
    }
    if (const ReviewedJob* old = old_job_in(review); old != nullptr && job_in(review) != nullptr)
      if (const auto later = annotations_for_later(*old, *job_in(review)); !later.empty())
        decision.warnings.push_back(counts_later(later));
    if (std::string stays = deadline_stays(review, decision.changes); !stays.empty())
      decision.warnings.push_back(std::move(stays));
    // The label of the template is written over.
    if (creates(review) && !decision.changes.template_labels.empty() &&
        refuses_management(job_in(review)->pod.keys))
      decision.warnings.push_back(stays_managed());
    if (!creates(review) && was_leaving(decision.changes))
      decision.warnings.push_back(stays_in_care());
  } else if (!foreign.empty()) {
    decision.warnings.push_back(is_left_to(foreign, facts));
  } else if (deserves_hints(review)) {
    decision.warnings = find_hints(review, facts);
    if (creates(review) && is_held_by_user(*job_in(review)))
      decision.warnings.push_back(joins_when_resumed(review));
    if (creates(review))
      for (std::string& problem : harmless_problems(review))
        decision.warnings.push_back(std::move(problem));
  }
  if (!mutates && foreign.empty() && creates(review) && deserves_hints(review) && facts.trusted)
    if (std::string none =
            core::asks_for_unlisted(*facts.snapshot, job_in(review)->job.pod_requests);
        !none.empty())
      decision.warnings.push_back(std::move(none));
  if (!mutates && creates(review) && job_in(review) != nullptr)
    for (std::string& text : without_effect(*job_in(review)))
      decision.warnings.push_back(std::move(text));
  return decision;
}

std::string foreign_scheduler(const AdmissionReview& review, const AdmissionFacts& facts) {
  if (!creates(review) || facts.scheduler_names.empty()) return {};
  const ReviewedJob* job = job_in(review);
  const ReviewedPod* pod = pod_in(review);
  const bool would_wait =
      job != nullptr ? is_queued(*job) || is_of_gang(*job) : pod != nullptr && is_gated(*pod);
  if (!would_wait) return {};
  const std::string& name = job != nullptr ? job->pod.scheduler_name : pod->facts.scheduler_name;
  const auto& ours = facts.scheduler_names;
  const bool is_ours = is_default_scheduler(name) || name == facts.scheduler_name ||
                       std::find(ours.begin(), ours.end(), name) != ours.end();
  return is_ours ? std::string() : name;
}

bool asks_for_urgent(const AdmissionReview& review, const AdmissionFacts& facts) {
  if (intent_of(review).qos_class != QosClass::kUrgent || !is_judged(review) ||
      may_write_our_keys(review, facts) || !foreign_scheduler(review, facts).empty())
    return false;
  if (creates(review) || !was_urgent_with_us(review)) return true;
  return moves_queue(review) && !was_proven_urgent(review, facts);
}

std::string queue_to_use(const AdmissionReview& review, const AdmissionFacts& facts) {
  if (facts.queues == nullptr || !is_judged(review) || may_write_our_keys(review, facts) ||
      !foreign_scheduler(review, facts).empty())
    return {};
  if (!(creates(review) || moves_queue(review) || joins_queue(review))) return {};
  std::string queue = queue_of(intent_of(review), review.ns);
  return facts.queues->named.contains(queue) && queue != review.ns ? queue : std::string();
}

std::string queue_to_count(const AdmissionReview& review, const AdmissionFacts& facts) {
  if (facts.max_pending == 0 || !facts.trusted || !waits_in_queue(review) ||
      is_counted_elsewhere(review, facts) || !foreign_scheduler(review, facts).empty() ||
      !(creates(review) || moves_queue(review) || joins_queue(review)))
    return {};
  const std::string queue = queue_of(intent_of(review), review.ns);
  return facts.queues == nullptr ? queue : facts.queues->account(queue, review.ns);
}

}  // namespace slackline::control

#include "control/serve/admission_hints.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "control/query/written_book.h"
#include "control/serve/admission_scope.h"
#include "slackline/base/duration.h"
#include "slackline/base/spelling.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/annotation_hints.h"
#include "slackline/core/cluster/depends.h"
#include "slackline/core/cluster/placement_table.h"
#include "slackline/core/cluster/pod_admission.h"
#include "slackline/core/cluster/queue_shares.h"
#include "slackline/core/cluster/resizing.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/cluster/task_family.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/core/planning/shapes.h"

namespace slackline::control {
namespace {

// The task that this Job would be. None of its pods exists yet.
Task task_of(const AdmissionReview& review, const ReviewedJob& reviewed,
             const AdmissionFacts& facts) {
  auto created = std::make_shared<Job>(reviewed.job);
  created->key.ns = review.ns;
  const JobPtr admitted = facts.snapshot->admission
                              ? core::with_admission(created, *facts.snapshot->admission)
                              : JobPtr(created);
  const Job& job = *admitted;
  Task task;
  task.kind = TaskKind::kJob;
  task.key = {review.ns, job.key.name};
  task.job = admitted;
  task.uid = Uid("admission/" + review.uid);
  task.member = core::written_pod(job);
  task.gang = job.is_gang();
  task.nodes_may_change = job.nodes_may_change();
  task.gpus_may_change = job.gpus_may_change();
  task.pods_wanted = std::max<std::int64_t>(1, job.parallelism);
  task.gpu_resource = core::primary_gpu_resource(job.pod_requests);
  task.gpus_per_pod = job.pod_requests.gpu_count(task.gpu_resource);
  task.priority = job.priority;
  task.created_s = job.created_s > 0 ? job.created_s : facts.now_wall_s;
  if (job.intent) task.intent = *job.intent;
  return task;
}

void hint_at_deadline(const Task& task, const AdmissionFacts& facts,
                      std::vector<std::string>& hints) {
  if (!task.intent.deadline_s && !task.intent.deadline_after_s) return;
  core::PlacementOptions options{facts};
  const core::PlacementTable table = core::placement_table(*facts.snapshot, task, options);
  const core::PlacementRow* fastest = nullptr;
  for (const core::PlacementRow& row : table.rows) {
    if (!row.allowed || !row.lat_s) continue;
    if (row.feasible.value_or(true)) return;
    if (fastest == nullptr || *row.lat_s < *fastest->lat_s) fastest = &row;
  }
  if (fastest == nullptr || !table.deadline_s) return;
  hints.push_back(
      format("{}: {} cannot be met: started now, the earliest finish is {} ({} on {}; waiting not "
             "counted)",
             contract::kDeadline, format_rfc3339(*table.deadline_s),
             format_rfc3339(std::ceil(facts.now_wall_s + *fastest->lat_s)), fastest->shape.str(),
             fastest->gpu_type.str()));
}

// Of a model that says too little the annotations' own hints tell.
void hint_at_class(const Task& task, const AdmissionFacts& facts, std::vector<std::string>& hints) {
  const TaskIntent& intent = task.intent;
  if (!intent.qos_class || intent.deadline_s || intent.deadline_after_s || intent.workload())
    return;
  if (core::class_reference(intent, task.job->pod_requests, task.job.get(), facts,
                            facts.snapshot->node_table.types))
    return;
  hints.push_back(
      format("{}: gives no deadline, because nobody knows how long the Job runs; write "
             "{}expected-duration, or {}",
             contract::kQosClass, contract::kPrefix, contract::kDeadlineAfter));
}

void hint_at_dependencies(const Task& task, const AdmissionFacts& facts,
                          std::vector<std::string>& hints) {
  const auto hindrance = core::Dependencies(*facts.snapshot).of(task.key.ns, task.intent);
  if (!hindrance || hindrance->reason == reason::kDependencyPending) return;
  const std::string_view what =
      hindrance->reason == reason::kDependencyFailed ? "failed" : "not there";
  hints.push_back(format("{}: {}: {}; it waits until Jobs of these names have completed",
                         contract::kDependsOn, what, printable(hindrance->detail, 120)));
}

// Its pods start one by one: of the time limit they wait for each other.
void hint_at_time_limit(const Job& job, std::vector<std::string>& hints) {
  if (!job.active_deadline_s || job.parallelism <= 1 || job.is_gang()) return;
  hints.push_back(format(
      "spec.activeDeadlineSeconds: {} s count from the turn of the first of {} pods, also while "
      "the others wait for theirs; let completions equal parallelism with completionMode: Indexed, "
      "and all start at once, or allow for the wait",
      *job.active_deadline_s, job.parallelism));
}

void hint_at_refusal(const Task& task, std::vector<std::string>& hints) {
  const auto& constraints = task.member->constraints;
  if (constraints && !constraints->refused.empty())
    hints.push_back(format("spec.template: the API server refuses its pods: {}",
                           printable(constraints->refused, 200)));
}

void hint_at_size(const Task& task, const AdmissionFacts& facts, std::vector<std::string>& hints) {
  const core::ResizingPtr resizing =
      core::Resizer(*facts.snapshot, facts).of(*task.job, task.intent);
  if (!resizing) return;
  const std::string_view then = resizing->changes() ? "; changed at its release" : "";
  for (const std::string& text : core::suggestions(*resizing))
    hints.push_back(format("{}: {}{}", contract::kResize, text, then));
}

// A name that nobody configured is a tag: the task has the rules and the share of its namespace.
void hint_at_queue(const Task& task, const AdmissionFacts& facts, std::vector<std::string>& hints) {
  const std::optional<std::string>& queue = task.intent.queue;
  if (facts.queues == nullptr || facts.queues->named.empty() || !queue || *queue == task.key.ns ||
      facts.queues->named.contains(*queue))
    return;
  std::vector<std::string_view> names;
  for (const auto& [name, rules] : facts.queues->named)
    names.push_back(name);
  const auto meant = nearest_spelling(*queue, names);
  hints.push_back(
      format("{}: no queue {} is configured{}; it has the rules and the share of {}, its "
             "namespace",
             contract::kGate, printable(*queue, 64),
             meant ? format(" (did you mean {}?)", printable(*meant, 64)) : "",
             printable(task.key.ns, 64)));
}

// Where it starts on what others own, or its share has no room.
void hint_at_share(const Task& task, const AdmissionFacts& facts, std::vector<std::string>& hints) {
  if (!facts.book || facts.queues == nullptr) return;
  const std::string queue = queue_of(task.intent, task.key.ns);
  TaskIntent intent = task.intent;
  if (intent.gpu_types.empty() && !intent.any_gpu_type)
    intent.gpu_types = facts.queues->of(queue, task.key.ns).gpu_types;
  const std::string& account = facts.queues->account(queue, task.key.ns);
  const std::int64_t gpus = task.gpus_per_pod * task.pods_wanted;
  const auto outlook = core::share_outlook(
      facts.book->shares, account, core::AcceptedTypes(intent, *facts.catalog, task.gpu_resource),
      facts.snapshot->node_table.types, *facts.catalog, gpus);
  if (!outlook) return;
  const std::string shown = printable(account, 64);
  if (outlook->kind == core::ShareOutlook::kBorrowed)
    hints.push_back(format(
        "{}: queue {} would borrow {} of {} {}: it may be stopped when their owner asks for "
        "them back, and a PodDisruptionBudget only delays that (giveBackWithin of the owner)",
        contract::kGate, shown, outlook->borrowed, gpus, outlook->gpu_type));
  if (outlook->kind == core::ShareOutlook::kNone)
    hints.push_back(format("{}: the share of queue {} has no room for {} {} now; it waits",
                           contract::kGate, shown, gpus, outlook->gpu_type));
}

}  // namespace

std::string stays_queued(const AdmissionReview& review) {
  return format(
      "spec.suspend: the Job waits in queue {} and stays suspended until its turn; to run it "
      "without "
      "Slackline create it in a namespace without the label {}",
      printable(queue_of(intent_of(review), review.ns), 64), contract::kManagedLabel);
}

std::string counts_later(const std::vector<std::string>& fields) {
  return format(
      "{}: counts from the next start of the Job, which runs on as it was planned; delete it and "
      "create it again to change it at once",
      printable(join(fields, ", "), 100));
}

std::string stays_together(std::int64_t wanted, std::int64_t pods) {
  return format(
      "spec.parallelism {}: it stays {}, because the pods of the Job run together; to change their "
      "number write the same number into spec.completions, to pause the Job set spec.suspend",
      wanted, pods);
}

std::string joins_when_resumed(const AdmissionReview& review) {
  return format(
      "spec.suspend: you hold the Job back; it joins queue {} once you set spec.suspend to false",
      printable(queue_of(intent_of(review), review.ns), 64));
}

std::string stays_in_care() {
  return format("{}: Slackline manages the task until it runs or is deleted; label and gate stay",
                contract::kManagedLabel);
}

std::vector<std::string> find_hints(const AdmissionReview& review, const AdmissionFacts& facts) {
  const ReviewedJob* job = job_in(review);
  if (job == nullptr) return {};
  const Task task = task_of(review, *job, facts);
  std::vector<std::string> hints =
      core::annotation_hints(*facts.snapshot, task, *facts.catalog, *facts.predictor);
  hint_at_time_limit(job->job, hints);
  if (facts.trusted) hint_at_refusal(task, hints);
  if (facts.trusted) hint_at_size(task, facts, hints);
  if (facts.trusted) hint_at_deadline(task, facts, hints);
  hint_at_class(task, facts, hints);
  if (facts.trusted) hint_at_dependencies(task, facts, hints);
  hint_at_queue(task, facts, hints);
  if (facts.trusted) hint_at_share(task, facts, hints);
  return hints;
}

}  // namespace slackline::control

#include <algorithm>
#include <utility>

#include "control/serve/admission_kept.h"
#include "control/serve/admission_rules.h"
#include "control/serve/admission_scope.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/task_family.h"
#include "slackline/core/planning/deadline.h"
#include "slackline/core/planning/gpu_types.h"

namespace slackline::control {
namespace {

const std::vector<EnvVariable>& shape_variables() {
  static const std::vector<EnvVariable> variables = {
      {"SLACKLINE_NODES", std::string(contract::kNodes)},
      {"SLACKLINE_GPUS_PER_NODE", std::string(contract::kGpusPerNode)},
      {"PET_NNODES", std::string(contract::kNodes)},
      {"PET_NPROC_PER_NODE", std::string(contract::kGpusPerNode)}};
  return variables;
}

// Keeps the pairs sorted.
void set(Labels& pairs, std::string_view key, std::string value) {
  const auto at =
      std::lower_bound(pairs.begin(), pairs.end(), key,
                       [](const auto& pair, auto wanted) { return pair.first < wanted; });
  pairs.emplace(at, std::string(key), std::move(value));
}

void set_shape(Labels& annotations, std::int64_t nodes, std::int64_t gpus_per_node) {
  set(annotations, contract::kNodes, format("{}", nodes));
  set(annotations, contract::kGpusPerNode, format("{}", gpus_per_node));
}

bool shape_is_chosen(const TaskIntent& intent) {
  return intent.any_placement || !intent.placements.empty();
}

std::optional<core::ClassReference> reference_of(const TaskIntent& intent, const Resources& of_pod,
                                                 const Job* job, const AdmissionFacts& facts) {
  return core::class_reference(
      intent, of_pod, job, facts,
      facts.trusted ? facts.snapshot->node_table.types : std::vector<GpuType>());
}

// The promise by delay or class, with its origin.
void set_promise(Labels& annotations, TaskIntent intent, const Resources& of_pod, const Job* job,
                 double created_s, const AdmissionFacts& facts) {
  intent.deadline_s.reset();
  const auto run = reference_of(intent, of_pod, job, facts);
  const auto promise_s =
      core::resolve_deadline(intent, created_s, run ? std::optional(run->run_s) : std::nullopt);
  if (!promise_s) return;
  set(annotations, contract::kDeadline, format_rfc3339(*promise_s));
  const QosClass qos = intent.qos_class.value_or(QosClass::kNormal);
  set(annotations, contract::kDeadlineBasis,
      intent.deadline_after_s
          ? format("deadline-after: {}", format_duration(*intent.deadline_after_s))
          : format("{}: {} x {}{} ({})", to_string(qos), core::DeadlineFactors{}.of(qos),
                   format_duration(run->run_s),
                   run->gpu_type.empty() ? "" : " on " + run->gpu_type.str(), run->source));
}

void set_deadline(Labels& annotations, const TaskIntent& intent, const Resources& of_pod,
                  const Job* job, const AdmissionFacts& facts) {
  if (!intent.deadline_s) set_promise(annotations, intent, of_pod, job, facts.now_wall_s, facts);
}

void hold_in_queue(AdmissionChanges& desired) {
  desired.suspend = true;
  set(desired.annotations, contract::kSuspendedBy, std::string(contract::kSuspendedByUs));
}

AdmissionChanges desired_for_new(const ReviewedJob& job, const AdmissionFacts& facts) {
  AdmissionChanges desired;
  if (!is_queued(job)) return desired;
  const TaskIntent intent = job.job.intent ? *job.job.intent : TaskIntent();
  if (!is_held_by_user(job)) hold_in_queue(desired);
  set_deadline(desired.annotations, intent, job.job.pod_requests, &job.job, facts);
  set(desired.template_labels, contract::kManagedLabel, "true");
  desired.ignore_disruptions = !intent.own_failure_policy;
  if (shape_is_chosen(intent)) {
    const std::string resource = core::primary_gpu_resource(job.job.pod_requests);
    set_shape(desired.template_annotations, job.job.is_gang() ? job.job.parallelism : 1,
              job.job.pod_requests.gpu_count(resource));
    desired.env = shape_variables();
  }
  return desired;
}

// What an update does to the annotation `deadline`.
struct DeadlineMove {
  bool written = false;    // another time
  bool withdrawn = false;  // none; or one that this webhook has just resolved in place of people's
};

DeadlineMove move_of_deadline(const ReviewedJob& job, const ReviewedJob& old, bool derived) {
  const std::string* before = old.keys.annotation(contract::kDeadline);
  const std::string* after = job.keys.annotation(contract::kDeadline);
  DeadlineMove move;
  move.written =
      after != nullptr && job.job.intent->deadline_s && (before == nullptr || *before != *after);
  const bool resolved =
      move.written && !derived && job.keys.annotation(contract::kDeadlineBasis) != nullptr;
  move.withdrawn = before != nullptr && (after == nullptr || resolved);
  return move;
}

// A deadline that people write is theirs to move and to take out, as at the creation, and its
// origin is not noted. One that was resolved follows its class or its delay when those are changed,
// and goes with them; a time that is written beside its delay does not count.
void move_promise(const ReviewedJob& job, const ReviewedJob& old, const AdmissionFacts& facts,
                  AdmissionChanges& desired) {
  if (!job.job.intent) return;
  const TaskIntent& now = *job.job.intent;
  const TaskIntent before = old.job.intent ? *old.job.intent : TaskIntent();
  const bool derived = old.keys.annotation(contract::kDeadlineBasis) != nullptr;
  const bool delayed = now.deadline_after_s != before.deadline_after_s;
  const DeadlineMove move = move_of_deadline(job, old, derived);
  if (derived && move.written && !now.deadline_after_s) {
    desired.dropped = {contract::kDeadlineBasis};
    return;
  }
  if (!delayed && now.qos_class == before.qos_class && (derived || !move.withdrawn)) {
    if (derived && (move.written || move.withdrawn))
      if (const std::string* stays = old.keys.annotation(contract::kDeadline))
        set(desired.annotations, contract::kDeadline, *stays);
    return;
  }
  const bool theirs = before.deadline_s && !derived && !move.withdrawn;
  if (theirs && !(delayed && now.deadline_after_s)) return;
  set_promise(desired.annotations, now, job.job.pod_requests, &job.job, job.job.created_s, facts);
  if (desired.annotations.empty())
    desired.dropped = {contract::kDeadline, contract::kDeadlineBasis};
}

// A manifest can be applied again: the scheduler that Slackline set stays, its label, and the place
// in the queue.
AdmissionChanges desired_for_changed(const ReviewedJob& job, const ReviewedJob& old,
                                     const AdmissionFacts& facts) {
  AdmissionChanges desired;
  if (!is_in_care(old)) return desired;
  if (was_admitted(old) && !old.job.finished)
    set(desired.template_labels, contract::kManagedLabel, "true");
  desired.wait_to_replace = old.must_wait_to_replace;
  move_promise(job, old, facts, desired);
  if (old.pod.scheduler_name == facts.scheduler_name) desired.scheduler_name = facts.scheduler_name;
  if (runs_by_plan(old)) {
    for (const std::string_view key : {contract::kBand, contract::kGpusPerNode, contract::kNodes})
      if (const std::string* written = old.pod.keys.annotation(key))
        set(desired.template_annotations, key, *written);
    KeptOfUpdate kept = kept_of(old, job);
    desired.kept = std::move(kept.shape);
    desired.original = std::move(kept.original);
  }
  return desired;
}

// The values for each pod of a task whose shape Slackline chose.
struct PodShape {
  std::int64_t pods = 1;
  std::int64_t gpus = 1;
};

// By the plan that its Job carries in the snapshot, which names a node for each pod; while the
// snapshot does not show it yet, by what the template says and a controller copied. A pod without
// these annotations is of a task that runs as it was written.
std::optional<PodShape> planned_shape(const ReviewedPod& pod, bool annotations_are_ours,
                                      const AdmissionFacts& facts) {
  const std::string* nodes = pod.facts.keys.annotation(contract::kNodes);
  const std::string* gpus = pod.facts.keys.annotation(contract::kGpusPerNode);
  if (!annotations_are_ours || nodes == nullptr || gpus == nullptr) return std::nullopt;
  const Job* job = owning_job(*facts.snapshot, pod.pod);
  if (job != nullptr && job->plan && !job->plan->nodes.empty()) {
    const auto pods = static_cast<std::int64_t>(job->plan->nodes.size());
    return PodShape{pods, job->plan->shape.gpus() / pods};
  }
  const auto pods = parse_int(*nodes);
  const auto count = parse_int(*gpus);
  if (!pods || !count || *pods < 1 || *count < 1) return std::nullopt;
  return PodShape{*pods, *count};
}

// What a training needs to go on where it was, and to tell how far it is (docs/PROGRESS.md).
std::vector<EnvVariable> resume_variables(const ReviewedPod& pod, const AdmissionFacts& facts) {
  std::vector<EnvVariable> variables;
  const auto add = [&](const char* name, std::string value) {
    variables.push_back({.name = name, .annotation = {}, .value = std::move(value)});
  };
  if (const Job* job = owning_job(*facts.snapshot, pod.pod)) {
    add("SLACKLINE_ITERATION", format("{}", job->progress ? job->progress->iteration : 0));
    add("SLACKLINE_ATTEMPT", format("{}", job->preemptions ? job->preemptions->count : 0));
  }
  if (facts.workload_url.empty()) return variables;
  add("SLACKLINE_URL", facts.workload_url);
  if (!facts.workload_ca.empty()) add("SLACKLINE_CA_PEM", facts.workload_ca);
  return variables;
}

// The count is only clear if a single container has the GPUs.
std::optional<GpuCountChange> gpu_count(const ReviewedPod& pod, std::int64_t wanted) {
  const std::string resource = core::primary_gpu_resource(pod.pod.requests);
  std::optional<GpuCountChange> change;
  for (std::size_t i = 0; i < pod.facts.containers.size(); ++i) {
    if (pod.facts.containers[i].gpus.empty()) continue;
    if (change || pod.facts.containers[i].gpus.size() != 1) return std::nullopt;
    change = GpuCountChange{i, resource, wanted};
  }
  return change;
}

// By the plan that its Job carries in the snapshot. Where templates take no change (Kubernetes
// before 1.36), pods are resized only here; a pod whose plan is not seen yet stays as written.
std::optional<ContainerAmountsChange> planned_amounts(const ReviewedPod& pod,
                                                      const AdmissionFacts& facts) {
  const Job* job = owning_job(*facts.snapshot, pod.pod);
  if (job == nullptr || !job->plan || !job->plan->resize || !job->plan->resize->amounts ||
      pod.facts.containers.size() != 1)
    return std::nullopt;
  return ContainerAmountsChange{0, *job->plan->resize->amounts};
}

// The band of its Job's plan; while the snapshot does not show that yet, the one in the template.
std::optional<PriorityChange> planned_priority(const ReviewedPod& pod,
                                               const AdmissionFacts& facts) {
  const Job* job = owning_job(*facts.snapshot, pod.pod);
  const std::string* written = pod.facts.keys.annotation(contract::kBand);
  std::string band;
  if (job != nullptr && job->plan)
    band = job->plan->band;
  else if (written != nullptr && (job == nullptr || job->suspended))
    band = *written;
  if (pod.pod.owner->kind != "Job" || !facts.snapshot->admission) return std::nullopt;
  const auto known = facts.snapshot->admission->bands.find(band);
  if (known == facts.snapshot->admission->bands.end()) return std::nullopt;
  return PriorityChange{known->first, known->second};
}

AdmissionChanges desired_for_new(const ReviewedPod& pod, bool annotations_are_ours,
                                 const AdmissionFacts& facts) {
  AdmissionChanges desired;
  desired.gate = is_gated(pod) || is_gated_launcher(pod);
  if (!is_gated(pod)) return desired;
  set(desired.labels, contract::kManagedLabel, "true");
  desired.scheduler_name = facts.scheduler_name;
  if (pod.pod.owner) desired.env = resume_variables(pod, facts);
  if (!pod.pod.owner) {
    set_deadline(desired.annotations, pod.pod.intent ? *pod.pod.intent : TaskIntent(),
                 pod.pod.requests, nullptr, facts);
  } else if (const auto shape = planned_shape(pod, annotations_are_ours, facts)) {
    set_shape(desired.annotations, shape->pods, shape->gpus);
    desired.gpus = gpu_count(pod, shape->gpus);
  }
  if (pod.pod.owner && annotations_are_ours) {
    desired.amounts = planned_amounts(pod, facts);
    desired.priority = planned_priority(pod, facts);
  }
  return desired;
}

// It keeps its place until Slackline lifts its gate, or it is deleted.
AdmissionChanges desired_for_changed(const ReviewedPod& old) {
  AdmissionChanges desired;
  if (!old.pod.managed || old.pod.bound()) return desired;
  desired.gate = old.pod.our_gate;
  set(desired.labels, contract::kManagedLabel, "true");
  return desired;
}

AdmissionChanges desired_for_update(const AdmissionReview& review, const AdmissionFacts& facts) {
  if (may_write_our_keys(review, facts)) return {};
  const ReviewedJob* job = job_in(review);
  const ReviewedJob* old_job = old_job_in(review);
  if (job != nullptr && old_job != nullptr) {
    AdmissionChanges desired = desired_for_changed(*job, *old_job, facts);
    desired.suspend = waits_with_us(*old_job);
    if (joins_queue(review)) hold_in_queue(desired);
    return desired;
  }
  const ReviewedPod* old_pod = old_pod_in(review);
  if (pod_in(review) != nullptr && old_pod != nullptr) return desired_for_changed(*old_pod);
  return {};
}

AdmissionChanges desired_for_creation(const AdmissionReview& review, const AdmissionFacts& facts) {
  if (const ReviewedJob* job = job_in(review)) return desired_for_new(*job, facts);
  if (const ReviewedPod* pod = pod_in(review))
    return desired_for_new(*pod, may_write_our_keys(review, facts), facts);
  return {};
}

// The pairs that are absent or have another value.
Labels missing(const Labels& desired, const Labels& there) {
  Labels out;
  for (const auto& [key, value] : desired) {
    const std::string* present = find_label(there, key);
    if (present == nullptr || *present != value) out.emplace_back(key, value);
  }
  return out;
}

bool lacks(const PodFacts& pod, const EnvVariable& variable) {
  return std::any_of(pod.containers.begin(), pod.containers.end(), [&](const auto& container) {
    return !container.gpus.empty() && std::find(container.env.begin(), container.env.end(),
                                                variable.name) == container.env.end();
  });
}

AdmissionChanges still_to_do(AdmissionChanges desired, const ContractKeys& keys,
                             const PodFacts& pod) {
  desired.annotations = missing(desired.annotations, keys.annotations);
  std::erase_if(desired.dropped, [&](auto key) { return keys.annotation(key) == nullptr; });
  if (!is_default_scheduler(pod.scheduler_name)) desired.scheduler_name.clear();
  std::erase_if(desired.env, [&](const auto& variable) { return !lacks(pod, variable); });
  return desired;
}

// Requests that are absent in a template are the limits in its pods.
bool has_amounts(const ContainerFacts& container, const ContainerAmounts& wanted) {
  ContainerAmounts now = container.amounts;
  if (wanted.cpu_request.empty()) now.cpu_request.clear();
  if (wanted.memory_request.empty()) now.memory_request.clear();
  return same_amounts(now, wanted);
}

}  // namespace

AdmissionChanges desired_changes(const AdmissionReview& review, const AdmissionFacts& facts) {
  AdmissionChanges desired;
  if (review.operation == AdmissionOperation::kCreate)
    desired = desired_for_creation(review, facts);
  else if (review.operation == AdmissionOperation::kUpdate)
    desired = desired_for_update(review, facts);
  desired.admitted = proof_for(review, facts);
  return desired;
}

AdmissionChanges changes_of(const AdmissionReview& review, const AdmissionChanges& desired) {
  if (const ReviewedJob* job = job_in(review)) {
    AdmissionChanges changes = still_to_do(desired, job->keys, job->pod);
    changes.suspend = desired.suspend && !job->job.suspended;
    changes.ignore_disruptions = desired.ignore_disruptions && job->may_ignore_disruptions;
    changes.wait_to_replace = desired.wait_to_replace && !job->must_wait_to_replace;
    changes.template_labels = missing(desired.template_labels, job->pod.keys.labels);
    changes.template_annotations = missing(desired.template_annotations, job->pod.keys.annotations);
    return changes;
  }
  if (const ReviewedPod* pod = pod_in(review)) {
    AdmissionChanges changes = still_to_do(desired, pod->facts.keys, pod->facts);
    changes.gate = desired.gate && !pod->pod.our_gate;
    changes.labels = missing(desired.labels, pod->facts.keys.labels);
    if (changes.gpus && pod->pod.requests.gpu_count(changes.gpus->resource) == changes.gpus->count)
      changes.gpus.reset();
    if (changes.amounts && has_amounts(pod->facts.containers.front(), changes.amounts->amounts))
      changes.amounts.reset();
    if (changes.priority && changes.priority->priority_class == pod->facts.priority_class)
      changes.priority.reset();
    return changes;
  }
  return {};
}

}  // namespace slackline::control

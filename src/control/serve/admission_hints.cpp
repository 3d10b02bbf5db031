#include "control/serve/admission_hints.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <utility>

#include "control/query/written_book.h"
#include "control/serve/admission_kept.h"
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
#include "slackline/core/planning/deadline.h"
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
  task.gpus_may_change = job.gpus_may_change() && !core::starts_one_by_one(job);
  task.pods_wanted = std::max<std::int64_t>(1, job.parallelism);
  task.gpu_resource = core::primary_gpu_resource(job.pod_requests);
  task.gpus_per_pod = job.pod_requests.gpu_count(task.gpu_resource);
  task.priority = job.priority;
  task.created_s = job.created_s > 0 ? job.created_s : facts.now_wall_s;
  if (job.intent) task.intent = *job.intent;
  return task;
}

// Its run, or of pods that start one by one any, has begun: what is told of a start does not count.
bool has_begun(const ReviewedJob& reviewed, const ClusterSnapshot& snapshot) {
  const Job& job = reviewed.job;
  if (job.suspended) return false;
  if (!core::starts_one_by_one(job)) return job.started_s || runs_by_plan(reviewed);
  const auto is_its = [&](const PodPtr& pod) { return pod->owner && pod->owner->uid == job.uid; };
  return !job.uid.empty() && std::ranges::any_of(snapshot.nodes, [&](const NodeStatePtr& node) {
    return std::ranges::any_of(node->pods, is_its);
  });
}

// Of the rows in which it may run and whose run time is known; null: there is none.
const core::PlacementRow* fastest_row(const core::PlacementTable& table) {
  const core::PlacementRow* fastest = nullptr;
  for (const core::PlacementRow& row : table.rows)
    if (row.allowed && row.lat_s && (fastest == nullptr || *row.lat_s < *fastest->lat_s))
      fastest = &row;
  return fastest;
}

void hint_at_deadline(const Task& task, const AdmissionFacts& facts,
                      std::vector<std::string>& hints) {
  if (!task.intent.deadline_s && !task.intent.deadline_after_s) return;
  core::PlacementOptions options{facts};
  const core::PlacementTable table = core::placement_table(*facts.snapshot, task, options);
  const core::PlacementRow* fastest = fastest_row(table);
  if (fastest == nullptr) return;
  const std::int64_t waves = core::waves_left(*task.job);
  const double run_s = static_cast<double>(waves) * *fastest->lat_s;
  if (core::meets_deadline(facts.now_wall_s, run_s, table.deadline_s).value_or(true)) return;
  hints.push_back(format(
      "{}: {} cannot be met: started now, the earliest finish is {} ({} on {}{}; waiting "
      "not counted)",
      contract::kDeadline, format_rfc3339(*table.deadline_s),
      format_rfc3339(std::ceil(facts.now_wall_s + run_s)), fastest->shape.str(),
      fastest->gpu_type.str(), waves > 1 ? format(", {} times one after the other", waves) : ""));
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
  if (core::has_run(*task.job)) return;
  const auto hindrance = core::Dependencies(*facts.snapshot).of(task.key.ns, task.intent);
  if (!hindrance || hindrance->reason == reason::kDependencyPending) return;
  const std::string_view what =
      hindrance->reason == reason::kDependencyFailed ? "failed" : "not there";
  hints.push_back(format("{}: {}: {}; it waits until Jobs of these names have completed",
                         contract::kDependsOn, what, printable(hindrance->detail, 120)));
}

// Its pods start one by one: of the time limit they wait for each other.
void hint_at_time_limit(const Job& job, std::vector<std::string>& hints) {
  const std::int64_t pods = std::max(job.parallelism, job.completions.value_or(0));
  if (!job.active_deadline_s || pods <= 1 || !core::starts_one_by_one(job)) return;
  hints.push_back(format(
      "spec.activeDeadlineSeconds: {} s count from the turn of the first of {} pods, also while "
      "the others wait for theirs; let completions equal parallelism with completionMode: Indexed, "
      "and all start at once, or allow for the wait",
      *job.active_deadline_s, pods));
}

// "is predicted to run 2h00m at best (1x8 on A100)", where that is more than its time limit.
std::string longer_than(double limit_s, const Task& task, const AdmissionFacts& facts) {
  core::PlacementTable table;
  core::PlacementOptions options{facts};
  if (facts.trusted) table = core::placement_table(*facts.snapshot, task, options);
  const core::PlacementRow* fastest = fastest_row(table);
  const auto& stated_s = task.intent.expected_duration_s;
  if (stated_s && (fastest == nullptr || !fastest->prediction)) {
    const double run_s = fastest == nullptr ? *stated_s : *fastest->lat_s;
    if (run_s <= limit_s) return "";
    return format("is expected to run {} ({}expected-duration)", format_duration(run_s),
                  contract::kPrefix);
  }
  if (fastest == nullptr || *fastest->lat_s <= limit_s) return "";
  return format("is predicted to run {} at best ({} on {})", format_duration(*fastest->lat_s),
                fastest->shape.str(), fastest->gpu_type.str());
}

// Kubernetes ends it in the middle of its work. Of pods that start one by one each is looked at
// alone: what they wait for each other is not known here.
void hint_at_early_end(const Task& task, const AdmissionFacts& facts,
                       std::vector<std::string>& hints) {
  const Job& job = *task.job;
  if (!job.active_deadline_s || job.is_calibration()) return;
  const auto limit_s = static_cast<double>(*job.active_deadline_s);
  const std::string runs = longer_than(limit_s, task, facts);
  if (runs.empty()) return;
  const bool one_by_one = core::starts_one_by_one(job);
  hints.push_back(
      format("spec.activeDeadlineSeconds: the Job will be ended after {}, and {} {}; write more "
             "seconds, or leave the limit out",
             format_duration(limit_s), one_by_one ? "each of its pods" : "it", runs));
}

// Why no named shape but the written one can be chosen; empty: one can.
std::string why_shapes_stay(const Task& task) {
  if (core::starts_one_by_one(*task.job))
    return "its pods start one by one, each as it is written; shapes are for a Job of one pod, or "
           "of pods that start together (completionMode: Indexed, completions equal to "
           "parallelism)";
  const Placement written = task.written_shape();
  const auto may = [&](const Placement& shape) {
    return (task.nodes_may_change || shape.d_node == written.d_node) &&
           (task.gpus_may_change || shape.d_gpn == written.d_gpn);
  };
  bool other_nodes = task.intent.any_placement;
  bool other_gpus = task.intent.any_placement;
  for (const Placement& shape : task.intent.placements) {
    if (shape != written && may(shape)) return "";
    other_nodes |= shape.d_node != written.d_node;
    other_gpus |= shape.d_gpn != written.d_gpn;
  }
  if (task.intent.any_placement && (task.nodes_may_change || task.gpus_may_change)) return "";
  std::vector<std::string> why;
  if (other_nodes && !task.nodes_may_change)
    why.emplace_back(
        "the number of its pods may change only with completionMode: Indexed and completions equal "
        "to parallelism");
  if (other_gpus && !task.gpus_may_change)
    why.emplace_back("the GPUs of a pod only where a single container asks for them");
  return join(why, ", ");
}

// Shapes to choose from, of which none but the written one ever is.
void hint_at_placements(const Task& task, const AdmissionFacts& facts,
                        std::vector<std::string>& hints) {
  const Placement written = task.written_shape();
  const auto& named = task.intent.placements;
  const bool asks = task.intent.any_placement ||
                    std::any_of(named.begin(), named.end(),
                                [&](const Placement& shape) { return shape != written; });
  if (!asks) return;
  std::string why = why_shapes_stay(task);
  const bool resized = core::resize_mode(*facts.snapshot, facts.queues, task.key.ns, task.intent) ==
                       ResizeMode::kAuto;
  if (why.empty() && !task.intent.workload() && !resized)
    why = format(
        "without {} nobody knows how fast other shapes are; write it, with batch-size and "
        "iterations",
        contract::kModel);
  if (!why.empty())
    hints.push_back(format("{}placements: has no effect, the Job runs as it is written ({}): {}",
                           contract::kPrefix, written.str(), why));
}

void hint_at_refusal(const Task& task, const AdmissionFacts& facts,
                     std::vector<std::string>& hints) {
  if (const auto lack = core::unstated(*facts.snapshot, task.key.ns, task.job->ask.get());
      !lack.empty())
    hints.push_back(format("spec.template: {}", printable(lack, 300)));
  const auto& constraints = task.member->constraints;
  if (constraints && !constraints->refused.empty())
    hints.push_back(format("spec.template: the API server refuses its pods: {}",
                           printable(constraints->refused, 200)));
}

// It waits for a node that is not there.
void hint_at_largest_node(const Task& task, const AdmissionFacts& facts,
                          std::vector<std::string>& hints) {
  if (task.intent.any_placement || !task.intent.placements.empty()) return;
  const auto* cells = facts.snapshot->node_table.cells(task.gpu_resource);
  if (cells == nullptr) return;
  std::int64_t largest = 0;
  for (const GpuCell& cell : *cells)
    largest = std::max(largest, cell.allocatable);
  if (largest > 0 && task.gpus_per_pod > largest)
    hints.push_back(format("spec.template: {} {} per pod: the largest node has {}",
                           task.gpus_per_pod, printable(task.gpu_resource, 64), largest));
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

// Those that have a node on which a pod of the task as it is written has its GPUs, in use or not.
std::vector<GpuType> types_that_fit(const Task& task, const NodeTable& table) {
  const bool reshapes = task.intent.any_placement || !task.intent.placements.empty();
  const std::vector<GpuCell>* cells = table.cells(task.gpu_resource);
  if (reshapes || cells == nullptr) return table.types;
  std::set<std::uint32_t> fit;
  for (std::size_t node = 0; node < cells->size(); ++node)
    if ((*cells)[node].allocatable >= task.gpus_per_pod) fit.insert(table.rows[node].type);
  std::vector<GpuType> types;
  for (const std::uint32_t type : fit)
    types.push_back(table.types[type]);
  return types;
}

// Where it starts on what others own, or its share has no room; else empty.
std::string share_text(const core::ShareOutlook& outlook, const std::string& queue,
                       std::int64_t gpus) {
  if (outlook.kind == core::ShareOutlook::kBorrowed)
    return format(
        "queue {} would borrow {} of {} {}: it may be stopped when their owner asks for "
        "them back, and a PodDisruptionBudget only delays that (giveBackWithin of the owner)",
        queue, outlook.borrowed, gpus, outlook.gpu_type);
  if (outlook.kind != core::ShareOutlook::kNone) return {};
  if (outlook.has_share)
    return format("the share of queue {} has no room for {} {} now; it waits", queue, gpus,
                  outlook.gpu_type);
  return format(
      "queue {} has no share of {}, and the pool, which is what no queue owns, has no room for {} "
      "now; it waits",
      queue, outlook.gpu_type, gpus);
}

void hint_at_share(const Task& task, const AdmissionFacts& facts, std::vector<std::string>& hints) {
  if (!facts.book || facts.queues == nullptr) return;
  const std::string queue = queue_of(task.intent, task.key.ns);
  const std::string& account = facts.queues->account(queue, task.key.ns);
  const std::string shown = printable(account, 64);
  const QueueRules& rules = facts.queues->of(queue, task.key.ns);
  if (rules.max_running > 0 && facts.book->full_queues.contains(account)) {
    hints.push_back(
        format("{}: queue {} runs as many tasks as it may at a time (maxRunning {}); "
               "it waits",
               contract::kGate, shown, rules.max_running));
    return;
  }
  TaskIntent intent = task.intent;
  if (intent.gpu_types.empty() && !intent.any_gpu_type) intent.gpu_types = rules.gpu_types;
  const std::int64_t gpus = task.gpus_per_pod * task.pods_wanted;
  const auto outlook = core::share_outlook(
      facts.book->shares, account, core::AcceptedTypes(intent, *facts.catalog, task.gpu_resource),
      types_that_fit(task, facts.snapshot->node_table), *facts.catalog, gpus);
  if (!outlook) return;
  if (const std::string text = share_text(*outlook, shown, gpus); !text.empty())
    hints.push_back(format("{}: {}", contract::kGate, text));
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

std::string deadline_stays(const AdmissionReview& review, const AdmissionChanges& changes) {
  const ReviewedJob* old = old_job_in(review);
  const std::string* given = find_label(changes.annotations, contract::kDeadline);
  if (given == nullptr || old == nullptr) return {};
  const std::string* before = old->keys.annotation(contract::kDeadline);
  if (before == nullptr || *before != *given) return {};
  const auto& delay_s = intent_of(review).deadline_after_s;
  if (delay_s)
    return format("{}: stays {}, because {}: {} counts; change that, or remove it to write a time",
                  contract::kDeadline, *given, contract::kDeadlineAfter, format_duration(*delay_s));
  return format("{}: stays {}, as its class has it; write another time, {} or {}",
                contract::kDeadline, *given, contract::kDeadlineAfter, contract::kQosClass);
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
  hint_at_placements(task, facts, hints);
  hint_at_time_limit(job->job, hints);
  hint_at_early_end(task, facts, hints);
  if (facts.trusted) hint_at_refusal(task, facts, hints);
  if (facts.trusted) hint_at_largest_node(task, facts, hints);
  if (facts.trusted) hint_at_size(task, facts, hints);
  const bool starts = facts.trusted && !has_begun(*job, *facts.snapshot);
  if (starts) hint_at_deadline(task, facts, hints);
  hint_at_class(task, facts, hints);
  if (facts.trusted) hint_at_dependencies(task, facts, hints);
  hint_at_queue(task, facts, hints);
  if (starts) hint_at_share(task, facts, hints);
  return hints;
}

}  // namespace slackline::control

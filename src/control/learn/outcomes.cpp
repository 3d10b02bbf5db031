#include "control/learn/outcomes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "control/learn/gang_runs.h"
#include "control/query/deadlines.h"
#include "slackline/base/clock.h"
#include "slackline/base/duration.h"
#include "slackline/base/saturating.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/cluster/task_family.h"
#include "slackline/core/planning/gpu_types.h"
#include "slackline/core/portrait/family.h"

namespace slackline::control {
namespace {

constexpr std::size_t kClasses = 4;  // those that people write, and calibration runs
constexpr std::size_t kResults = 3;
// Every queue, "other" and the series beyond them.
constexpr std::size_t kMaxByClass = (obs::kMaxQueues + 1) * kClasses + 1;
constexpr std::size_t kMaxByResult = (obs::kMaxQueues + 1) * kClasses * kResults + 1;

// A few seconds to a week.
const std::vector<double>& wait_bounds_s() {
  static const std::vector<double> bounds = {1,    5,    15,    60,    300,   900,    1800,
                                             3600, 7200, 14400, 28800, 86400, 172800, 604800};
  return bounds;
}

// Where it ran; where nobody saw that, where its plan put it.
GpuType type_of(const PlanNote* plan, const RunSeen& seen, const ClusterSnapshot& snapshot) {
  std::set<std::string> types;
  for (const auto& [uid, member] : seen.pods)
    if (const auto node = snapshot.find_node(member.node.str()))
      if (const GpuType& type = snapshot.node(*node).node->gpu_type; !type.empty())
        types.insert(type.str());
  if (types.empty()) return plan != nullptr ? plan->gpu_type : GpuType();
  return GpuType(join(std::vector<std::string>(types.begin(), types.end()), "+"));
}

struct Held {
  double s = 0;  // while any of its pods ran
  double gpu_s = 0;
};

// By the pods that began after `since_s`.
Held held_since(double since_s, const RunSeen& seen, double finished_s) {
  Held held;
  std::vector<std::pair<double, double>> spans;
  for (const auto& [uid, member] : seen.pods) {
    if (member.started_s <= since_s) continue;
    const double ended_s = std::min(member.ended_s.value_or(finished_s), finished_s);
    spans.emplace_back(member.started_s, std::max(member.started_s, ended_s));
    held.gpu_s += static_cast<double>(member.gpus) * (spans.back().second - member.started_s);
  }
  std::sort(spans.begin(), spans.end());
  double until_s = 0;
  for (const auto& [from_s, to_s] : spans) {
    held.s += std::max(0.0, to_s - std::max(from_s, until_s));
    until_s = std::max(until_s, to_s);
  }
  return held;
}

// Nobody saw its pods. A Job that was followed and did not complete had none that ran: the API
// server notes a start when it is resumed, or created.
std::optional<double> unseen_start_s(const Job& job, const RunSeen& seen) {
  const bool never_ran = seen.seen_before_start && !job.completed_s;
  return seen.pods.empty() && !never_ran ? job.started_s : std::nullopt;
}

std::optional<double> first_start_s(const Job& job, const RunSeen& seen) {
  std::optional<double> first_s;
  for (const auto& [uid, member] : seen.pods)
    first_s = std::min(first_s.value_or(member.started_s), member.started_s);
  if (!job.preemptions) return first_s ? first_s : unseen_start_s(job, seen);
  const double noted_s = job.preemptions->first_start_s;
  if (noted_s > 0) return std::min(first_s.value_or(noted_s), noted_s);
  // A note of an earlier version: what was seen may be a later run.
  return seen.seen_before_start.value_or(false) ? first_s : std::nullopt;
}

Held held_of(const Job& job, const RunSeen& seen, std::int64_t gpus, double finished_s) {
  const auto held_after = [&](double since_s) {
    if (!seen.pods.empty()) return held_since(since_s, seen, finished_s);
    const double unseen_s =
        std::max(0.0, finished_s - unseen_start_s(job, seen).value_or(finished_s));
    return Held{unseen_s, static_cast<double>(gpus) * unseen_s};
  };
  const Held all = held_after(0);
  if (!job.preemptions) return all;
  const PreemptionNote& note = *job.preemptions;
  const Held later = held_after(note.at_s);
  return {std::max(all.s, note.held_s + later.s),
          std::max(all.gpu_s, note.held_gpu_s + later.gpu_s)};
}

struct Peak {
  std::int64_t pods = 0;
  std::int64_t gpus = 0;
};

// The most that ran at a time: a pod that was made again is another one.
Peak peak_of(const RunSeen& seen) {
  std::vector<std::tuple<double, std::int64_t, std::int64_t>>
      steps;  // at the same time, ends first
  for (const auto& [uid, member] : seen.pods) {
    const double after_s =
        std::nextafter(member.started_s, std::numeric_limits<double>::infinity());
    steps.emplace_back(member.started_s, 1, member.gpus);
    steps.emplace_back(std::max(member.ended_s.value_or(after_s), after_s), -1, -member.gpus);
  }
  std::sort(steps.begin(), steps.end());
  Peak now;
  Peak most;
  for (const auto& [at_s, pods, gpus] : steps) {
    now.pods += pods;
    now.gpus = saturating_add(now.gpus, gpus);
    most = {std::max(most.pods, now.pods), std::max(most.gpus, now.gpus)};
  }
  return most;
}

}  // namespace

FinishedTask finished_task(const Job& job, const RunSeen& seen, const OutcomeFacts& facts) {
  static const TaskIntent kNothing;
  const TaskIntent& intent = job.intent ? *job.intent : kNothing;
  const std::string resource = core::primary_gpu_resource(job.pod_requests);
  FinishedTask task;
  task.key = job.key;
  task.uid = job.uid;
  task.queue = queue_of(intent, job.key.ns);
  task.qos_class = class_name_of(job);
  task.model = intent.workload().value_or("");
  task.gpu_type = type_of(job.plan.get(), seen, facts.snapshot);
  task.gpus = saturating_mul(job.parallelism, job.pod_requests.gpu_count(resource));
  task.created_s = job.created_s;
  task.started_s = first_start_s(job, seen);
  task.finished_s = job.ended_s.value_or(facts.now_s);
  task.succeeded = job.completed_s.has_value();
  task.deleted = !job.finished;
  if (!job.is_calibration())  // nobody was promised anything
    task.deadline_s = deadline_of({intent, resource, job.created_s}, facts.catalog, facts.predictor,
                                  facts.snapshot);
  // A release after a stop predicts the rest only.
  if (job.plan && !job.preemptions) task.predicted_s = job.plan->predicted_s;
  const Held held = held_of(job, seen, task.gpus, task.finished_s);
  task.gpu_hours = held.gpu_s / kHour_s;
  task.held_s = held.s;
  if (job.preemptions) task.stops = job.preemptions->count;
  if (job.plan && job.plan->resize) task.resized_from = job.plan->resize->asked.str();
  task.family = core::portrait_key(core::identity_of(job));
  task.asked_gpus =
      saturating_mul(core::written_pods(job), core::written_pod(job)->requests.gpu_count(resource));
  task.pods = job.parallelism;
  task.cpu_milli = job.pod_requests.cpu_milli;
  return task;
}

FinishedTask finished_task(const GangRun& run, const OutcomeFacts& facts) {
  static const TaskIntent kNothing;
  const Pod& first = *run.first;
  const TaskIntent& intent = first.intent ? *first.intent : kNothing;
  const Peak peak = peak_of(run.seen);
  FinishedTask task;
  task.kind = run.kind;
  task.gang = run.id;
  task.key = run.key;
  task.uid = first.uid;
  task.queue = queue_of(intent, run.key.ns);
  task.qos_class = to_string(intent.qos_class.value_or(QosClass::kNormal));
  task.model = intent.workload().value_or("");
  task.gpu_type = type_of(first.plan.get(), run.seen, facts.snapshot);
  task.gpus = peak.gpus;
  task.created_s = run.created_s;
  task.started_s = run.finished_s;
  for (const auto& [uid, member] : run.seen.pods)
    task.started_s = std::min(*task.started_s, member.started_s);
  task.finished_s = run.finished_s;
  task.succeeded = run.succeeded;
  task.deleted = run.deleted;
  task.deadline_s = deadline_of({intent, core::primary_gpu_resource(first.requests), run.created_s},
                                facts.catalog, facts.predictor, facts.snapshot);
  if (first.plan) task.predicted_s = first.plan->predicted_s;
  const Held held = held_since(0, run.seen, run.finished_s);
  task.gpu_hours = held.gpu_s / kHour_s;
  task.held_s = held.s;
  task.asked_gpus = peak.gpus;
  task.pods = peak.pods;
  task.cpu_milli = first.requests.cpu_milli;
  return task;
}

void Outcomes::follow(const GpuCatalog& catalog, const Published<Known>& known,
                      const cluster::ClusterSource& source, store::Journal& journal) {
  catalog_ = &catalog;
  known_ = &known;
  source_ = &source;
  journal_ = &journal;
}

void Outcomes::on_began(const std::string& queue, const std::string& qos_class, double waited_s) {
  const std::string admitted = queues_.admit(queue);
  metrics_
      .histogram("slackline_admission_wait_time_seconds", wait_bounds_s(),
                 {{"queue", admitted}, {"class", qos_class}}, kMaxByClass)
      .observe(waited_s);
  (void)failed(admitted, qos_class);
  for (const DeadlineResult result :
       {DeadlineResult::kNone, DeadlineResult::kMet, DeadlineResult::kMissed})
    (void)completed(admitted, qos_class, result);
}

bool Outcomes::on_ended(const Job& job, const RunSeen& seen) {
  return append([&](const OutcomeFacts& facts) { return finished_task(job, seen, facts); });
}

bool Outcomes::on_ended(const GangRun& run) {
  return append([&](const OutcomeFacts& facts) { return finished_task(run, facts); });
}

bool Outcomes::append(const std::function<FinishedTask(const OutcomeFacts&)>& row) {
  const SnapshotPtr snapshot = source_->snapshot();
  const KnownPtr known = known_->get();
  return journal_->append(row({*snapshot, *catalog_, *known->predictor, system_clock().wall_s()}));
}

void Outcomes::count(const FinishedTask& task) {
  const std::string queue = queues_.admit(task.queue);
  if (task.succeeded)
    completed(queue, task.qos_class, task.result()).add();
  else if (!task.deleted)
    failed(queue, task.qos_class).add();
}

obs::Counter Outcomes::completed(const std::string& queue, const std::string& qos_class,
                                 DeadlineResult result) const {
  return metrics_.counter("slackline_jobs_completed_total",
                          {{"queue", queue}, {"class", qos_class}, {"deadline", to_string(result)}},
                          kMaxByResult);
}

obs::Counter Outcomes::failed(const std::string& queue, const std::string& qos_class) const {
  return metrics_.counter("slackline_jobs_failed_total", {{"queue", queue}, {"class", qos_class}},
                          kMaxByClass);
}

}  // namespace slackline::control

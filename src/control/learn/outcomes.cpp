#include "control/learn/outcomes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
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

double gpu_hours_of(const FinishedTask& task, const RunSeen& seen) {
  if (seen.pods.empty())
    return static_cast<double>(task.gpus) * task.duration_s().value_or(0) / kHour_s;
  double gpu_s = 0;
  for (const auto& [uid, member] : seen.pods) {
    const double ended_s = std::min(member.ended_s.value_or(task.finished_s), task.finished_s);
    gpu_s += static_cast<double>(member.gpus) * std::max(0.0, ended_s - member.started_s);
  }
  return gpu_s / kHour_s;
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
  task.started_s = seen.pods.empty() ? job.started_s : std::nullopt;
  for (const auto& [uid, member] : seen.pods)
    task.started_s = std::min(task.started_s.value_or(member.started_s), member.started_s);
  task.finished_s = job.ended_s.value_or(facts.now_s);
  task.succeeded = job.completed_s.has_value();
  task.deleted = !job.finished;
  if (!job.is_calibration())  // nobody was promised anything
    task.deadline_s = deadline_of({intent, resource, job.created_s}, facts.catalog, facts.predictor,
                                  facts.snapshot);
  task.gpu_hours = gpu_hours_of(task, seen);
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
  task.gpu_hours = gpu_hours_of(task, run.seen);
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

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>

#include "eligibility.h"
#include "other_runs.h"
#include "queue_tasks.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/task_catalog.h"

namespace slackline::core {
namespace {

bool is_unproven(const QueueTask& task) {
  if (task.plan || (task.job && task.job->resumed)) return false;
  return task.job ? task.job->unproven : task.member->unproven;
}

// When clocks of Jobs end pods that wait behind their gates; nullopt: none does.
std::optional<double> ended_by_s(const ClusterSnapshot& snapshot, const QueueTask& task) {
  std::optional<double> first_s;
  for (const PodPtr& pod : task.pods) {
    const Job* job = pod->our_gate ? owning_job(snapshot, *pod) : nullptr;
    if (job == nullptr || !job->active_deadline_s || !job->started_s) continue;
    const double ended_s = *job->started_s + static_cast<double>(*job->active_deadline_s);
    first_s = std::min(first_s.value_or(ended_s), ended_s);
  }
  return first_s;
}

// `times` runs, one after the other.
std::shared_ptr<const PlacementMenu> repeated(const PlacementMenu& menu, std::int64_t times) {
  auto all = std::make_shared<PlacementMenu>(menu);
  const auto factor = static_cast<double>(times);
  all->base_s *= factor;
  for (Choice& choice : all->all) {
    for (double* grows : {&choice.work_s, &choice.startup_s, &choice.lat_s, &choice.area})
      *grows *= factor;
    choice.cer /= factor;
  }
  return all;
}

// By Job that makes further pods when these end: those that are there, and how many more will come.
struct Wave {
  std::vector<TaskIndex> pods;
  std::int64_t later = 0;
};
// The runs stand behind the tasks.
std::map<ObjectKey, Wave> find_waves(const ClusterSnapshot& snapshot,
                                     const std::vector<QueueTask>& tasks,
                                     const std::vector<OtherRun>& runs) {
  std::map<ObjectKey, Wave> waves;
  const auto add = [&](TaskIndex task, const Pod& pod) {
    const Job* job = owning_job(snapshot, pod);
    if (job == nullptr || job->suspended || job->deleting || waves_left(*job) < 2) return;
    Wave& wave = waves[job->key];
    wave.pods.push_back(task);
    wave.later = *job->completions - job->succeeded - std::ssize(wave.pods);
  };
  std::unordered_set<Uid> of_tasks;
  for (TaskIndex task = 0; task < tasks.size(); ++task) {
    if (tasks[task].kind != TaskKind::kPod || !tasks[task].length_known()) continue;
    add(task, *tasks[task].member);
    of_tasks.insert(tasks[task].uid);
  }
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (runs[i].known && !runs[i].gone_by_s && !of_tasks.contains(runs[i].pod->uid))
      add(static_cast<TaskIndex>(tasks.size() + i), *runs[i].pod);
  return waves;
}

// Those of its pod are given back as it ends, and what comes then takes as much.
std::vector<QuotaNeed> taken_anew(std::vector<QuotaNeed> quotas) {
  for (QuotaNeed& need : quotas)
    need.held = false;
  return quotas;
}

// What comes after a run that nobody planned: where its pod was, or on others of the pool.
PlanTask after_run(const ClusterSnapshot& snapshot, const OtherRun& run, const PlanTask& planned,
                   std::int64_t times) {
  PlanTask later;
  later.submit_s = planned.submit_s;
  if (const auto due_s = effective_intent(snapshot, *run.pod).deadline_s) later.deadline_s = *due_s;
  later.request_gpus = planned.request_gpus;
  later.queue = planned.queue;
  later.menu = repeated(*planned.menu, times);
  later.quotas = taken_anew(planned.quotas);
  return later;
}

PlanTask after_task(const QueueTask& task, const PlanTask& planned, std::int64_t times,
                    TaskMenus& menus, Eligibility& eligibility) {
  PlanTask later;
  later.submit_s = planned.submit_s;
  later.deadline_s = planned.deadline_s + task.later_s;
  later.qos = planned.qos;
  later.request_gpus = planned.request_gpus;
  later.type = planned.type;
  later.level = planned.level;
  later.queue = planned.queue;
  later.menu = repeated(*menus.of(*task.intent, task.request).menu, times);
  later.preference = planned.preference;
  later.fallback_after_s = planned.fallback_after_s;
  later.eligible = eligibility.of(task);
  later.quotas = taken_anew(planned.quotas);
  return later;
}

// How long it runs at least, as far as that is known.
double least_run_s(const TaskMenu& menu) {
  const bool known = menu.length != LengthSource::kUnknown && !menu.menu->empty();
  return known ? menu.menu->fastest().lat_s : 0;
}

}  // namespace

bool was_stopped(const QueueTask& task) {
  return task.evictions > 0 || (task.job && task.job->preemptions);
}

std::vector<std::int64_t> keys_of_equals(const std::vector<QueueTask>& tasks) {
  auto first = std::int64_t{0};
  auto other = static_cast<std::int64_t>(std::count_if(tasks.begin(), tasks.end(), was_stopped));
  std::vector<std::int64_t> keys;
  for (const QueueTask& task : tasks)
    keys.push_back(was_stopped(task) ? first++ : other++);
  return keys;
}

void hold_to_limits(std::vector<QueueTask>& tasks, const QueueRulebook* queues) {
  if (queues == nullptr || std::none_of(tasks.begin(), tasks.end(), is_unproven)) return;
  const auto account_of = [&](const QueueTask& task) {
    return queues->account(queue_of(*task.intent, task.key.ns), task.key.ns);
  };
  std::map<std::string, std::int64_t> waiting;
  for (const QueueTask& task : tasks)
    if (!task.plan && !is_unproven(task)) ++waiting[account_of(task)];
  for (QueueTask& task : tasks) {
    if (!is_unproven(task) || task.hindrance) continue;
    const std::string account = account_of(task);
    const std::int64_t limit = queues->of(account).max_pending;
    if (limit == 0 || waiting[account] < limit)
      ++waiting[account];
    else
      task.hindrance =
          Hindrance{reason::kNotAdmitted, format("queue {} has {} waiting", account, limit)};
  }
}

void prefer_types_of_queues(std::vector<QueueTask>& tasks, const QueueRulebook& queues) {
  const bool none = queues.defaults.gpu_types.empty() &&
                    std::all_of(queues.named.begin(), queues.named.end(),
                                [](const auto& named) { return named.second.gpu_types.empty(); });
  if (none) return;
  for (QueueTask& task : tasks) {
    const auto& types = queues.of(queue_of(*task.intent, task.key.ns), task.key.ns).gpu_types;
    const bool names_none = task.intent->gpu_types.empty() && !task.intent->any_gpu_type;
    if (types.empty() || !names_none || task.plan) continue;
    TaskIntent intent = *task.intent;
    intent.gpu_types = types;
    task.intent = std::make_shared<const TaskIntent>(std::move(intent));
    task.types_of_queue = true;
  }
}

void make_due_by_clocks(const ClusterSnapshot& snapshot, const TaskMenu& menu, QueueTask& task) {
  if (task.plan) return;
  const auto due_by = [&](std::optional<double> time_s) {
    if (time_s) task.deadline_s = std::min(task.deadline_s.value_or(*time_s), *time_s);
  };
  due_by(ended_by_s(snapshot, task));
  const GangSpec* spec = task.kind == TaskKind::kGang ? snapshot.spec_of_gang(task.uid) : nullptr;
  if (spec == nullptr) return;
  due_by(spec->ends_s);
  if (spec->starts_by_s) due_by(*spec->starts_by_s + least_run_s(menu));
}

void make_time_for_later_pods(const ClusterSnapshot& snapshot, const TaskMenu& menu,
                              QueueTask& task) {
  const Job* job = task.opens ? task.job.get() : owning_job(snapshot, *task.member);
  if (job == nullptr || !task.deadline_s) return;
  if (!task.opens && task.kind != TaskKind::kPod) return;
  task.later_s = static_cast<double>(waves_left(*job) - 1) * least_run_s(menu);
  *task.deadline_s -= task.later_s;
}

void add_later_pods(const ClusterSnapshot& snapshot, const std::vector<QueueTask>& tasks,
                    const std::vector<OtherRun>& runs, TaskMenus& menus, Eligibility& eligibility,
                    std::vector<PlanTask>& planned) {
  for (const auto& [job, wave] : find_waves(snapshot, tasks, runs)) {
    std::int64_t places = std::ssize(wave.pods);
    std::int64_t left = wave.later;
    for (const TaskIndex pod : wave.pods) {
      const std::int64_t times = (left + places - 1) / places;
      --places;
      if (times <= 0) break;
      left -= times;
      PlanTask later = pod < tasks.size()
                           ? after_task(tasks[pod], planned[pod], times, menus, eligibility)
                           : after_run(snapshot, runs[pod - tasks.size()], planned[pod], times);
      later.id = std::ssize(planned);
      later.preemptible = later.stops_others = false;
      later.after = {pod};
      later.follows_at_once = true;
      planned.push_back(std::move(later));
    }
  }
}

}  // namespace slackline::core

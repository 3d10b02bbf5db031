#include <algorithm>
#include <cstdint>
#include <map>
#include <string>

#include "queue_tasks.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/task_catalog.h"

namespace slackline::core {
namespace {

bool is_unproven(const QueueTask& task) {
  if (task.plan || (task.job && task.job->resumed)) return false;
  return task.job ? task.job->unproven : task.member->unproven;
}

}  // namespace

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

void make_time_for_later_pods(const ClusterSnapshot& snapshot, const TaskMenu& menu,
                              QueueTask& task) {
  const Job* job = task.opens ? task.job.get() : owning_job(snapshot, *task.member);
  if (job == nullptr || !task.deadline_s || menu.menu->empty()) return;
  if (menu.length == LengthSource::kUnknown || (!task.opens && task.kind != TaskKind::kPod)) return;
  task.later_s = static_cast<double>(waves_left(*job) - 1) * menu.menu->fastest().lat_s;
  *task.deadline_s -= task.later_s;
}

}  // namespace slackline::core

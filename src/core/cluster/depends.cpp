#include "slackline/core/cluster/depends.h"

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_set>

#include "other_runs.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/queue.h"
#include "slackline/core/cluster/task_catalog.h"

namespace slackline::core {
namespace {

const std::vector<std::string>& dependencies_of(const Job* job) {
  static const std::vector<std::string> kNone;
  return job == nullptr || job->finished || !job->intent ? kNone : job->intent->depends_on;
}

bool succeeded(const Job& job) {
  return job.finished && job.completed_s.has_value();
}

}  // namespace

std::vector<std::string> dependency_cycle(const ClusterSnapshot& snapshot, const ObjectKey& job,
                                          const std::vector<std::string>& depends_on) {
  std::map<std::string, std::string> named_by;
  std::deque<std::string> open;
  const auto follow = [&](const std::string& from, const std::vector<std::string>& names) {
    for (const std::string& name : names)
      if (named_by.try_emplace(name, from).second) open.push_back(name);
  };
  follow(job.name, depends_on);
  while (!open.empty() && !named_by.contains(job.name)) {
    const std::string name = std::move(open.front());
    open.pop_front();
    follow(name, dependencies_of(snapshot.find_job(job.ns, name)));
  }
  if (!named_by.contains(job.name)) return {};
  std::vector<std::string> cycle = {job.name};
  do
    cycle.insert(cycle.begin(), named_by.at(cycle.front()));
  while (cycle.front() != job.name);
  return cycle;
}

namespace {

using JobRuns = std::map<ObjectKey, std::vector<TaskIndex>>;

// Of Jobs all of whose pods run, and of which it is known how long they do; the runs stand behind
// the tasks, whose own runs are none of them.
void add_other_runs(const ClusterSnapshot& snapshot, const std::vector<QueueTask>& tasks,
                    const std::vector<OtherRun>& runs, JobRuns& jobs) {
  std::unordered_set<Uid> of_tasks;
  for (const QueueTask& task : tasks)
    for (const PodPtr& pod : task.bound)
      of_tasks.insert(pod->uid);
  JobRuns found;
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (const Job* job = owning_job(snapshot, *runs[i].pod); job != nullptr && runs[i].known &&
                                                             waves_left(*job) == 1 &&
                                                             !of_tasks.contains(runs[i].pod->uid))
      found[job->key].push_back(static_cast<TaskIndex>(tasks.size() + i));
  for (auto& [key, those] : found)
    if (std::ssize(those) == snapshot.find_job(key.ns, key.name)->wanted_pods())
      jobs.emplace(key, std::move(those));
}

}  // namespace

// Of a chain the first is found first; what is left waits for something that nobody can tell.
void come_after_dependencies(const ClusterSnapshot& snapshot, const std::vector<QueueTask>& tasks,
                             const std::vector<OtherRun>& runs, std::vector<PlanTask>& planned) {
  const auto follows = [&](TaskIndex task) {
    return task < tasks.size() && tasks[task].hindrance &&
           tasks[task].hindrance->reason == reason::kDependencyPending;
  };
  std::vector<TaskIndex> followers;
  for (TaskIndex task = 0; task < tasks.size(); ++task)
    if (follows(task)) followers.push_back(task);
  if (followers.empty()) return;
  JobRuns jobs;
  for (TaskIndex task = 0; task < tasks.size(); ++task) {
    const bool ends = tasks[task].plan ? tasks[task].is_planned() : !tasks[task].hindrance;
    const Job* job = tasks[task].job.get();
    if (job == nullptr || starts_one_by_one(*job)) continue;
    if (tasks[task].length_known() && (ends || follows(task))) jobs[job->key] = {task};
  }
  add_other_runs(snapshot, tasks, runs, jobs);
  // What the task comes after; nullopt: one of them is not known.
  const auto found = [&](const QueueTask& task) -> std::optional<std::vector<TaskIndex>> {
    std::vector<TaskIndex> after;
    for (const std::string& name : task.intent->depends_on) {
      const Job* job = snapshot.find_job(task.key.ns, name);
      if (job != nullptr && succeeded(*job)) continue;
      const auto at = jobs.find({task.key.ns, name});
      if (at == jobs.end()) return std::nullopt;
      after.insert(after.end(), at->second.begin(), at->second.end());
    }
    return after;
  };
  std::map<TaskIndex, std::vector<TaskIndex>> after;
  std::map<TaskIndex, std::vector<TaskIndex>> users;  // of those that follow themselves
  std::map<TaskIndex, std::ptrdiff_t> left;
  std::deque<TaskIndex> free;
  for (const TaskIndex task : followers) {
    auto those = found(tasks[task]);
    if (!those) continue;
    for (const TaskIndex other : *those)
      if (follows(other)) users[other].push_back(task);
    left[task] = std::count_if(those->begin(), those->end(), follows);
    if (left[task] == 0) free.push_back(task);
    after[task] = *std::move(those);
  }
  while (!free.empty()) {
    const TaskIndex task = free.front();
    free.pop_front();
    planned[task].after = std::move(after[task]);
    for (const TaskIndex user : users[task])
      if (--left[user] == 0) free.push_back(user);
  }
}

// Repeatedly removes the Jobs all of whose dependencies are removed: the rest cannot be ordered.
Dependencies::Dependencies(const ClusterSnapshot& snapshot) : snapshot_(snapshot) {
  std::map<ObjectKey, std::size_t> left;
  for (const JobPtr& job : snapshot.jobs)
    if (!dependencies_of(job.get()).empty()) left.emplace(job->key, 0);
  if (left.empty()) return;
  std::map<ObjectKey, std::vector<ObjectKey>> users;
  std::deque<ObjectKey> free;
  for (auto& [key, count] : left) {
    for (const std::string& name : dependencies_of(snapshot.find_job(key.ns, key.name))) {
      if (!left.contains({key.ns, name})) continue;
      users[{key.ns, name}].push_back(key);
      ++count;
    }
    if (count == 0) free.push_back(key);
  }
  while (!free.empty()) {
    const ObjectKey key = std::move(free.front());
    free.pop_front();
    for (const ObjectKey& user : users[key])
      if (--left.at(user) == 0) free.push_back(user);
  }
  for (const auto& [key, count] : left)
    if (count > 0) entangled_.insert(key);
}

bool has_run(const Job& job) {
  return job.preemptions || job.progress || job.succeeded > 0 || job.failed > 0;
}

std::optional<Hindrance> Dependencies::of(const Job& job) const {
  if (has_run(job)) return std::nullopt;
  if (entangled_.contains(job.key))
    if (const auto cycle = dependency_cycle(snapshot_, job.key, dependencies_of(&job));
        !cycle.empty())
      return Hindrance{reason::kDependencyCycle, join(cycle, " -> ")};
  return job.intent ? of(job.key.ns, *job.intent) : std::nullopt;
}

std::optional<Hindrance> Dependencies::of(const QueueTask& task) const {
  if (task.plan) return std::nullopt;
  if (task.job) return of(*task.job);
  const Job* job = owning_job(snapshot_, *task.member);
  return job != nullptr && job->resumed ? std::nullopt : of(task.key.ns, *task.intent);
}

std::optional<Hindrance> Dependencies::of(const std::string& ns, const TaskIntent& intent) const {
  std::vector<std::string> failed;
  std::vector<std::string> missing;
  std::vector<std::string> pending;
  for (const std::string& name : intent.depends_on) {
    const Job* job = snapshot_.find_job(ns, name);
    if (job == nullptr)
      missing.push_back(name);
    else if (!succeeded(*job))
      (job->finished ? failed : pending).push_back(name);
  }
  if (!failed.empty()) return Hindrance{reason::kDependencyFailed, join(failed, ", ")};
  if (!missing.empty()) return Hindrance{reason::kDependencyMissing, join(missing, ", ")};
  if (!pending.empty()) return Hindrance{reason::kDependencyPending, join(pending, ", ")};
  return std::nullopt;
}

}  // namespace slackline::core

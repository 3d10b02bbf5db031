#include "slackline/core/cluster/tasks.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "slackline/core/cluster/holds.h"
#include "slackline/core/planning/gpu_types.h"

namespace slackline::core {
namespace {

constexpr std::int64_t kMaxGang = 65536;

// The thing that a pod or Job belongs to.
struct Owner {
  std::string kind;
  ObjectKey key;
  Uid uid;
};

// The topmost controller of a Job: its JobSet or the like, but each run of a CronJob is its own
// task.
Owner owner_of(const Job& job) {
  if (job.intent && job.intent->gang) return {"Gang", {job.key.ns, *job.intent->gang}, Uid{}};
  if (job.owner && job.owner->kind != "CronJob")
    return {job.owner->kind, {job.key.ns, job.owner->name}, job.owner->uid};
  return {"Job", job.key, job.uid};
}

Owner owner_of(const ClusterSnapshot& snapshot, const Pod& pod) {
  if (pod.intent && pod.intent->gang) return {"Gang", {pod.key.ns, *pod.intent->gang}, Uid{}};
  if (const Job* job = owning_job(snapshot, pod)) return owner_of(*job);
  if (pod.owner) return {pod.owner->kind, {pod.key.ns, pod.owner->name}, pod.owner->uid};
  return {"Pod", pod.key, pod.uid};
}

std::int64_t wanted_pods(const Job& job) {
  const std::int64_t left = job.completions ? *job.completions - job.succeeded : job.parallelism;
  return std::clamp<std::int64_t>(left, 0, std::max<std::int64_t>(0, job.parallelism));
}

// A task while its parts are counted.
struct Draft {
  Task task;
  std::int64_t pods_seen = 0;
  std::int64_t pods_of_jobs = 0;  // wanted by the Jobs in it
  bool any_job = false;
  bool all_suspended = true;
};

class TaskDeriver {
 public:
  explicit TaskDeriver(const ClusterSnapshot& snapshot) : snapshot_(snapshot) {}

  std::vector<Task> derive() {
    for (const JobPtr& job : snapshot_.jobs)
      if (!job->finished && job->pod_requests.wants_gpus()) add(*job);
    for (const NodeStatePtr& state : snapshot_.nodes)
      for (const PodPtr& pod : state->pods)
        add(*pod);
    for (const PodPtr& pod : snapshot_.unbound)
      add(*pod);
    std::vector<Task> tasks;
    for (auto& [key, draft] : drafts_)
      tasks.push_back(finish(draft));
    return tasks;
  }

 private:
  Draft& draft(const Owner& owner, const Resources& request, double created_s,
               std::int32_t priority) {
    auto [at, created] = drafts_.try_emplace(std::tuple(owner.key, owner.kind));
    Task& task = at->second.task;
    if (created) {
      task.kind = owner.kind;
      task.key = owner.key;
      task.uid = owner.uid;
      task.created_s = created_s;
      task.priority = priority;
      task.gpu_resource = primary_gpu_resource(request);
    }
    task.created_s = std::min(task.created_s, created_s);
    task.priority = std::max(task.priority, priority);
    task.gpus_per_pod = std::max(task.gpus_per_pod, request.gpu_count(task.gpu_resource));
    return at->second;
  }

  void add(const Job& job) {
    Draft& mine = draft(owner_of(job), job.pod_requests, job.created_s, job.priority);
    if (job.intent) mine.task.intent = merge(mine.task.intent, *job.intent);
    mine.any_job = true;
    mine.all_suspended = mine.all_suspended && job.suspended;
    mine.pods_of_jobs += wanted_pods(job);
    mine.task.gang = mine.task.gang || job.is_gang() || mine.task.kind == "Gang";
    if (mine.task.kind != "Job") return;
    mine.task.nodes_may_change = job.nodes_may_change();
    mine.task.gpus_may_change = job.gpus_may_change();
  }

  void add(const Pod& pod) {
    if (pod.terminal() || !pod.requests.wants_gpus()) return;
    Draft& mine = draft(owner_of(snapshot_, pod), pod.requests, pod.created_s, pod.priority);
    if (mine.pods_seen++ == 0) {
      TaskIntent intent = effective_intent(snapshot_, pod);
      if (mine.any_job) intent.problems.clear();  // its Job's are there already
      mine.task.intent = merge(intent, mine.task.intent);
    }
    mine.task.gang = mine.task.gang || mine.task.kind == "Gang";
    ++(pod.bound() ? mine.task.pods_bound : mine.task.pods_unbound);
    if (pod.bound()) mine.task.nodes.push_back(pod.node);
  }

  static Task finish(Draft& draft) {
    Task& task = draft.task;
    std::sort(task.nodes.begin(), task.nodes.end());
    task.nodes.erase(std::unique(task.nodes.begin(), task.nodes.end()), task.nodes.end());
    task.pods_wanted = std::max({draft.pods_seen, draft.pods_of_jobs, std::int64_t{1}});
    if (task.kind == "Gang" && task.intent.gang_size)
      task.pods_wanted = std::max(task.pods_wanted, std::min(*task.intent.gang_size, kMaxGang));
    task.nodes_may_change = task.nodes_may_change && task.pods_bound == 0;
    task.gpus_may_change = task.gpus_may_change && task.pods_bound == 0;
    if (task.pods_bound >= task.pods_wanted)
      task.state = TaskState::kRunning;
    else if (task.pods_bound > 0)
      task.state = TaskState::kPartlyBound;
    else if (draft.any_job && draft.all_suspended)
      task.state = TaskState::kSuspended;
    return std::move(task);
  }

  const ClusterSnapshot& snapshot_;
  std::map<std::tuple<ObjectKey, std::string>, Draft> drafts_;
};

// Which of several tasks of one name is meant.
int precedence(const Task& task) {
  if (task.kind == "Job") return 0;
  if (task.kind == "Gang") return 2;
  return task.kind == "Pod" ? 3 : 1;
}

}  // namespace

std::vector<Task> derive_tasks(const ClusterSnapshot& snapshot) {
  return TaskDeriver(snapshot).derive();
}

std::optional<Task> find_task(const ClusterSnapshot& snapshot, const ObjectKey& key) {
  std::optional<Task> found;
  for (Task& task : derive_tasks(snapshot)) {
    if (task.key != key) continue;
    if (!found || precedence(task) < precedence(*found)) found = std::move(task);
  }
  return found;
}

std::int64_t gang_pods(const ClusterSnapshot& snapshot, const Pod& pod, const TaskIntent& intent) {
  if (intent.gang && intent.gang_size)
    return std::clamp<std::int64_t>(*intent.gang_size, 1, kMaxGang);
  const Job* job = owning_job(snapshot, pod);
  if (job != nullptr && job->is_gang()) return std::min(job->parallelism, kMaxGang);
  return 1;
}

}  // namespace slackline::core

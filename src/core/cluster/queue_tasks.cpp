#include "queue_tasks.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "slackline/core/cluster/depends.h"
#include "slackline/core/cluster/holds.h"
#include "slackline/core/cluster/tasks.h"
#include "slackline/core/planning/gpu_types.h"

namespace slackline::core {
namespace {

// The Job as it was written, before we changed its shape.
struct WrittenJob {
  explicit WrittenJob(const Job& job)
      : resource(primary_gpu_resource(job.pod_requests)),
        gpus(job.pod_requests.gpu_count(resource)),
        parallelism(job.parallelism),
        constraints(job.constraints) {
    if (!job.original) return;
    gpus = job.original->gpus.value_or(gpus);
    parallelism = job.original->parallelism.value_or(parallelism);
    if (!job.original->affinity_terms) return;
    auto own = job.constraints ? *job.constraints : SchedulingConstraints{};
    own.affinity_terms = *job.original->affinity_terms;
    constraints = std::make_shared<const SchedulingConstraints>(std::move(own));
  }

  std::string resource;
  std::int64_t gpus = 0;
  std::int64_t parallelism = 1;
  std::shared_ptr<const SchedulingConstraints> constraints;
};

bool is_gang(const Job& job, const WrittenJob& written) {
  return job.indexed && job.completions == job.parallelism && written.parallelism > 1;
}

PodPtr member_of(const Job& job, const WrittenJob& written) {
  auto member = std::make_shared<Pod>();
  member->key.ns = job.key.ns;
  member->owner = OwnerRef{"Job", job.key.name, job.uid};
  member->priority = job.priority;
  member->requests = job.pod_requests;
  member->requests.set_gpus(written.resource, written.gpus);
  member->constraints = written.constraints;
  return member;
}

QueueTask task_of_job(const JobPtr& job, const WrittenJob& written) {
  QueueTask task;
  task.kind = "Job";
  task.key = job->key;
  task.uid = job->uid;
  task.job = job;
  task.request = {written.resource, std::max<std::int64_t>(1, written.parallelism - job->succeeded),
                  written.gpus, job->nodes_may_change(), job->gpus_may_change()};
  static const auto kNothingSaid = std::make_shared<const TaskIntent>();
  task.intent = job->intent ? job->intent : kNothingSaid;
  task.created_s = job->created_s;
  task.member = member_of(*job, written);
  task.shape_is_free = shape_is_free(*task.intent, task.request);
  task.plan = job->plan;
  return task;
}

class Finder {
 public:
  Finder(const ClusterSnapshot& snapshot, const std::unordered_set<Uid>* held_off,
         const StopAsked& stop)
      : snapshot_(snapshot), held_off_(held_off), stop_(stop), dependencies_(snapshot) {}

  FoundTasks find() {
    found_.waiting.reserve(snapshot_.jobs.size());
    for (const NodeStatePtr& state : snapshot_.nodes)
      for (const PodPtr& pod : state->pods)
        count_bound(pod);
    for (const PodPtr& pod : snapshot_.unbound)
      if (waits_at_our_gate(*pod) && pod->owner) gated_of_[pod->owner->uid].push_back(pod);
    for (const JobPtr& job : snapshot_.jobs)
      if (!is_asked(stop_)) add(job);
    for (const PodPtr& pod : snapshot_.unbound)
      if (!is_asked(stop_)) add(pod);
    add_groups();
    return std::move(found_);
  }

 private:
  // Pods of one gang, or of one plan that its pods carry.
  struct Group {
    std::vector<PodPtr> gated;
    std::int64_t members = 0;  // bound ones too
    bool planned = false;      // some of those that are not bound
    bool runs = false;         // some are bound
  };

  static bool waits_at_our_gate(const Pod& pod) {
    return pod.our_gate && !pod.foreign_gate && may_wait(pod);
  }

  static bool was_let_go(const Pod& pod) {
    return !pod.gated && pod.nominated_node.empty() && may_wait(pod);
  }

  static bool may_wait(const Pod& pod) {
    return pod.managed && !pod.in_pod_group && !pod.deleting && !pod.terminal() && !pod.bound() &&
           pod.problems.empty() && pod.requests.wants_gpus();
  }

  void count_bound(const PodPtr& pod) {
    if (pod->owner) ++bound_of_[pod->owner->uid];
    if (const std::string gang = hold_identity(snapshot_, *pod).gang; !gang.empty()) {
      ++groups_[gang].members;
      groups_[gang].runs = true;
    }
    if (pod->plan) add_running(pod);
  }

  void add(const JobPtr& job) {
    if (job->finished || !job->pod_requests.wants_gpus() || !job->problems.empty()) return;
    const WrittenJob written(*job);
    const bool gang = is_gang(*job, written);
    if (!job->suspended) {
      if (job->plan) {
        found_.running.push_back(task_of_job(job, written));
      } else if (gang && gated_of_.contains(job->uid) && !bound_of_.contains(job->uid)) {
        QueueTask task = task_of_job(job, written);
        task.pods = gated_of_.at(job->uid);
        // Its pods exist: their shape is what it is.
        task.request = {written.resource, job->parallelism - job->succeeded,
                        job->pod_requests.gpu_count(written.resource), false, false};
        task.shape_is_free = false;
        wait(std::move(task));
      }
      return;
    }
    if (!job->suspended_by_us || job->active > 0) return;
    if (held_off_ != nullptr && held_off_->contains(job->uid)) return;
    if (!gang && written.parallelism > 1 && !dependencies_.of(*job)) {
      if (job->halted) found_.to_open.push_back(job);
      return;
    }
    QueueTask task = task_of_job(job, written);
    task.plan = nullptr;  // that of a suspended Job is void
    wait(std::move(task));
  }

  void wait(QueueTask&& task) {
    if (task.job)
      task.hindrance = dependencies_.of(*task.job);
    else if (!has_begun(task))
      task.hindrance = dependencies_.of(task.key.ns, *task.intent);
    found_.waiting.push_back(std::move(task));
  }

  // A Job that was unsuspended had all that it depends on, which may be gone since.
  bool has_begun(const QueueTask& task) const {
    const Job* job = owning_job(snapshot_, *task.member);
    return job != nullptr && job->resumed;
  }

  void add(const PodPtr& pod) {
    const Job* job = owning_job(snapshot_, *pod);
    const std::string gang = hold_identity(snapshot_, *pod).gang;
    if (!gang.empty() && !pod->deleting) ++groups_[gang].members;
    if (pod->plan) {
      if (!gang.empty()) groups_[gang].planned = true;
      return add_running(pod);
    }
    const bool let_go = gang.empty() && was_let_go(*pod);
    if (!let_go && !waits_at_our_gate(*pod)) return;
    if (job != nullptr && (job->suspended || job->plan || is_gang(*job, WrittenJob(*job)))) return;
    if (!gang.empty()) return groups_[gang].gated.push_back(pod);
    QueueTask task = task_of({pod}, "Pod", pod->key, pod->uid);
    if (let_go)
      found_.let_go.push_back(std::move(task));
    else
      wait(std::move(task));
  }

  // A gang waits once it is complete; replacements of one that runs come pod by pod.
  void add_groups() {
    for (auto& [gang, group] : groups_) {
      if (group.gated.empty()) continue;
      const TaskIntent intent = effective_intent(snapshot_, *group.gated.front());
      const auto gated = static_cast<std::int64_t>(group.gated.size());
      if (group.runs) {
        for (const PodPtr& pod : group.gated)
          found_.waiting.push_back(task_of({pod}, "Pod", pod->key, pod->uid));
      } else if (!group.planned && gated >= intent.gang_size.value_or(group.members)) {
        const std::string& ns = group.gated.front()->key.ns;
        wait(task_of(std::move(group.gated), "Gang", {ns, gang.substr(ns.size() + 1)}, Uid{}));
      }
    }
  }

  QueueTask task_of(std::vector<PodPtr> pods, std::string kind, ObjectKey key, Uid uid) const {
    const Pod& first = *pods.front();
    QueueTask task;
    task.kind = std::move(kind);
    task.key = std::move(key);
    task.uid = std::move(uid);
    task.member = pods.front();
    task.intent = std::make_shared<const TaskIntent>(effective_intent(snapshot_, first));
    task.created_s = first.created_s;
    task.request.resource = primary_gpu_resource(first.requests);
    task.request.pods = static_cast<std::int64_t>(pods.size());
    task.request.gpus = 0;
    for (const PodPtr& pod : pods) {
      task.request.gpus =
          std::max(task.request.gpus, pod->requests.gpu_count(task.request.resource));
      task.created_s = std::min(task.created_s, pod->created_s);
    }
    task.pods = std::move(pods);
    return task;
  }

  // The pods that carry one plan are one task; its pods beyond the first add nothing.
  void add_running(const PodPtr& pod) {
    if (!running_plans_.insert(pod->key.ns + "/" + pod->plan->id).second) return;
    QueueTask task = task_of({pod}, "Pod", pod->key, pod->uid);
    task.plan = pod->plan;
    task.request.pods = static_cast<std::int64_t>(pod->plan->nodes.size());
    found_.running.push_back(std::move(task));
  }

  const ClusterSnapshot& snapshot_;
  const std::unordered_set<Uid>* held_off_;
  const StopAsked& stop_;
  const Dependencies dependencies_;
  std::unordered_map<Uid, std::vector<PodPtr>> gated_of_;  // by owner
  std::unordered_map<Uid, std::int64_t> bound_of_;         // by owner
  std::map<std::string, Group> groups_;                    // by "namespace/gang"
  std::set<std::string> running_plans_;  // ordered: whoever writes a plan chooses its id
  FoundTasks found_;
};

}  // namespace

FoundTasks find_queue_tasks(const ClusterSnapshot& snapshot,
                            const std::unordered_set<Uid>* held_off, const StopAsked& stop) {
  return Finder(snapshot, held_off, stop).find();
}

}  // namespace slackline::core

#include "slackline/core/handover/return_to_scheduler.h"

#include <map>
#include <set>
#include <utility>

#include "notices.h"
#include "slackline/base/duration.h"
#include "slackline/core/cluster/task_catalog.h"
#include "slackline/core/planning/gpu_types.h"

namespace slackline::core {
namespace {

std::map<Uid, std::int64_t> bound_by_owner(const ClusterSnapshot& snapshot) {
  std::map<Uid, std::int64_t> bound;
  for (const NodeStatePtr& state : snapshot.nodes)
    for (const PodPtr& pod : state->pods)
      if (pod->owner) ++bound[pod->owner->uid];
  return bound;
}

void let_jobs_go(const ClusterSnapshot& snapshot, const std::vector<JobPtr>& jobs,
                 std::vector<OwnWrite>& writes) {
  if (jobs.empty()) return;
  std::map<Uid, std::int64_t> bound = bound_by_owner(snapshot);
  for (const JobPtr& job : jobs) {
    if (job->finished || job->deleting) continue;
    if (job->is_calibration()) {  // nobody's work
      writes.push_back(job_write(*job, RemoveCalibration{}));
      continue;
    }
    const bool waits = job->waits_with_us();
    const bool on_its_way =
        !job->suspended && job->plan && job->managed && bound[job->uid] < job->wanted_pods();
    if (!waits && !on_its_way) continue;
    writes.push_back(job_write(*job, OpenJob{waits ? first_shape(*job) : ShapeChange{}}));
  }
}

template <class T>
std::vector<std::shared_ptr<const T>> due(const std::vector<GivenUp<T>>& given_up, double now_s) {
  std::vector<std::shared_ptr<const T>> objects;
  for (const GivenUp<T>& each : given_up)
    if (each.due_s <= now_s) objects.push_back(each.object);
  return objects;
}

void let_pods_go(const std::vector<PodPtr>& pods, std::vector<OwnWrite>& writes) {
  for (const PodPtr& pod : pods) {
    if (pod->deleting) continue;
    if (pod->our_gate && !pod->nominated_node.empty())
      writes.push_back(pod_write(*pod, ClearNomination{}));
    else if (pod->plan && pod->managed)
      writes.push_back(pod_write(*pod, UnplanPod{}, {.verb = Verb::kSuspend}));
    else if (pod->our_gate && !pod->foreign_gate)
      writes.push_back(pod_write(*pod, LiftGate{}));
  }
}

// As their annotations say, also where Slackline no longer looks after their namespace.
std::map<Uid, const Job*> jobs_by_uid(const ClusterSnapshot& snapshot) {
  std::map<Uid, const Job*> jobs;
  for (const JobPtr& job : snapshot.jobs)
    jobs[job->uid] = job.get();
  for (const GivenUp<Job>& each : snapshot.given_up_jobs)
    jobs[each.object->uid] = each.object.get();
  return jobs;
}

// The pods that wait for one scheduler, and what is to become of them.
class Leaving {
 public:
  Leaving(const ClusterSnapshot& snapshot, const std::string& scheduler, double since_s)
      : scheduler_(scheduler),
        since_s_(since_s),
        jobs_(jobs_by_uid(snapshot)),
        bound_(bound_by_owner(snapshot)) {
    leave_.writes = return_to_scheduler(snapshot);
    for (const OwnWrite& write : leave_.writes)
      if (write.of_job()) written_.insert(write.target.uid);
  }

  void judge(const PodPtr& pod) {
    if (pod->scheduler_name != scheduler_) return;
    const auto job = pod->owner ? jobs_.find(pod->owner->uid) : jobs_.end();
    if (job != jobs_.end())
      judge(*job->second, *pod);
    else if (!pod->deleting)
      judge_alone(pod);
  }

  SchedulerLeave take() {
    std::erase_if(leave_.writes, [&](const OwnWrite& write) {
      return write.is<OpenJob>() && emptying_.contains(write.target.uid);
    });
    leave_.emptying = emptying_.size();
    return std::move(leave_);
  }

 private:
  void judge(const Job& job, const Pod& pod) {
    if (job.suspended || job.finished || job.deleting) {
      if (job.waits_with_us()) emptying_.insert(job.uid);
      return;
    }
    // One write for each object: what it has in hand comes first.
    if (pod.deleting || written_.contains(job.uid) || !judged_.insert(job.uid).second) return;
    if (job.scheduler_name == scheduler_)
      leave_.stay.push_back({job.key, true, StaysWhy::kTemplate});
    else if (bound_.contains(job.uid))
      leave_.stay.push_back({job.key, true, StaysWhy::kPartlyRuns});
    else
      leave_.writes.push_back(job_write(job, SuspendJob{}));
  }

  void judge_alone(const PodPtr& pod) {
    if (!pod->owner)
      leave_.stay.push_back({pod->key, false, StaysWhy::kBare});
    else if (pod->owner_gang && pod->created_s < since_s_)
      leave_.removals.push_back(pod);
    else
      leave_.stay.push_back({pod->key, false, StaysWhy::kTemplate});
  }

  const std::string& scheduler_;
  const double since_s_;
  const std::map<Uid, const Job*> jobs_;
  const std::map<Uid, std::int64_t> bound_;
  std::set<Uid> written_;
  std::set<Uid> judged_;
  std::set<Uid> emptying_;
  SchedulerLeave leave_;
};

}  // namespace

ShapeChange first_shape(const Job& job) {
  if (!job.original || !job.original->changed()) return {};
  const OriginalShape first = counted_original(job);
  const std::string resource = primary_gpu_resource(job.pod_requests);
  ShapeChange change;
  if (first.parallelism || first.gpus)
    change.reshape =
        Reshape{first.parallelism.value_or(starts_one_by_one(job) ? 0 : job.parallelism),
                first.gpus.value_or(job.pod_requests.gpu_count(resource)), resource,
                first.gpus ? job.gpu_container : ""};
  change.affinity_terms = first.affinity_terms;
  if (first.amounts) change.amounts = AmountsChange{job.gpu_container, *first.amounts};
  change.original = std::make_shared<const OriginalShape>();
  return change;
}

std::vector<OwnWrite> return_to_scheduler(const ClusterSnapshot& snapshot) {
  std::vector<OwnWrite> writes;
  let_jobs_go(snapshot, snapshot.jobs, writes);
  let_pods_go(snapshot.unbound, writes);
  for (OwnWrite& write : take_back_stops(snapshot, {}))
    writes.push_back(std::move(write));
  for (OwnWrite& write : return_given_up(snapshot, kNever))
    writes.push_back(std::move(write));
  return writes;
}

std::vector<OwnWrite> return_given_up(const ClusterSnapshot& snapshot, double now_steady_s) {
  std::vector<OwnWrite> writes;
  let_jobs_go(snapshot, due(snapshot.given_up_jobs, now_steady_s), writes);
  let_pods_go(due(snapshot.given_up_pods, now_steady_s), writes);
  return writes;
}

SchedulerLeave leave_scheduler(const ClusterSnapshot& snapshot, const std::string& scheduler,
                               double since_s) {
  Leaving leaving(snapshot, scheduler, since_s);
  for (const PodPtr& pod : snapshot.unbound)
    leaving.judge(pod);
  return leaving.take();
}

std::vector<ObjectKey> jobs_naming(const ClusterSnapshot& snapshot, const std::string& scheduler) {
  std::vector<ObjectKey> keys;
  for (const JobPtr& job : snapshot.jobs)
    if (!job->finished && !job->deleting && job->scheduler_name == scheduler)
      keys.push_back(job->key);
  return keys;
}

HeldBack held_back(const ClusterSnapshot& snapshot) {
  HeldBack held;
  for (const JobPtr& job : snapshot.jobs)
    if (job->waits_with_us() && held.objects.insert(job->uid).second) ++held.jobs;
  for (const PodPtr& pod : snapshot.unbound)
    if (!pod->deleting && pod->our_gate && held.objects.insert(pod->uid).second) ++held.pods;
  return held;
}

}  // namespace slackline::core

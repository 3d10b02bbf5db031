#include "slackline/core/let_go.h"

#include <map>

#include "slackline/core/gpu_types.h"

namespace slackline::core {
namespace {

// A shape that we chose goes with the plan it was chosen for.
void restore_shape(const Job& job, OwnWrite& write) {
  if (!job.original || !job.original->changed()) return;
  const OriginalShape& first = *job.original;
  const std::string resource = primary_gpu_resource(job.pod_requests);
  if (first.parallelism || first.gpus)
    write.reshape = Reshape{first.parallelism.value_or(job.parallelism),
                            first.gpus.value_or(job.pod_requests.gpu_count(resource)), resource,
                            first.gpus ? job.gpu_container : ""};
  write.affinity_terms = first.affinity_terms;
  write.original = std::make_shared<const OriginalShape>();
}

std::map<Uid, std::int64_t> bound_by_owner(const ClusterSnapshot& snapshot) {
  std::map<Uid, std::int64_t> bound;
  for (const NodeStatePtr& state : snapshot.nodes)
    for (const PodPtr& pod : state->pods)
      if (pod->owner) ++bound[pod->owner->uid];
  return bound;
}

void let_jobs_go(const ClusterSnapshot& snapshot, std::vector<OwnWrite>& writes) {
  std::map<Uid, std::int64_t> bound = bound_by_owner(snapshot);
  for (const JobPtr& job : snapshot.jobs) {
    if (job->finished) continue;
    const bool waits = job->suspended && job->suspended_by_us;
    const bool on_its_way =
        !job->suspended && job->plan && job->managed && bound[job->uid] < job->wanted_pods();
    if (!waits && !on_its_way) continue;
    writes.push_back(job_write(OwnWriteKind::kOpenJob, *job));
    if (waits) restore_shape(*job, writes.back());
  }
}

}  // namespace

std::vector<OwnWrite> let_go(const ClusterSnapshot& snapshot) {
  std::vector<OwnWrite> writes;
  let_jobs_go(snapshot, writes);
  for (const PodPtr& pod : snapshot.unbound) {
    if (pod->deleting) continue;
    if (pod->our_gate && !pod->nominated_node.empty())
      writes.push_back(pod_write(OwnWriteKind::kClearNomination, *pod));
    else if (pod->plan && pod->managed)
      writes.push_back(pod_write(OwnWriteKind::kPlanPod, *pod));
    else if (pod->our_gate && !pod->foreign_gate)
      writes.push_back(pod_write(OwnWriteKind::kLiftGate, *pod));
  }
  return writes;
}

HeldBack held_back(const ClusterSnapshot& snapshot) {
  HeldBack held;
  for (const JobPtr& job : snapshot.jobs)
    if (!job->finished && job->suspended && job->suspended_by_us) ++held.jobs;
  for (const PodPtr& pod : snapshot.unbound)
    if (!pod->deleting && pod->our_gate) ++held.pods;
  return held;
}

}  // namespace slackline::core

#include "slackline/core/let_go.h"

namespace slackline::core {

std::vector<OwnWrite> let_go(const ClusterSnapshot& snapshot) {
  std::vector<OwnWrite> writes;
  for (const JobPtr& job : snapshot.jobs)
    if (job->suspended && job->suspended_by_us && !job->finished)
      writes.push_back(job_write(OwnWriteKind::kOpenJob, *job));
  for (const PodPtr& pod : snapshot.unbound) {
    if (!pod->our_gate || pod->deleting) continue;
    if (!pod->nominated_node.empty())
      writes.push_back(pod_write(OwnWriteKind::kClearNomination, *pod));
    else if (!pod->foreign_gate)
      writes.push_back(pod_write(OwnWriteKind::kLiftGate, *pod));
  }
  return writes;
}

}  // namespace slackline::core

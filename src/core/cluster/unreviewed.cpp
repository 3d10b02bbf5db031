#include "slackline/core/cluster/unreviewed.h"

#include <algorithm>

namespace slackline::core {

std::vector<JobPtr> unreviewed_jobs(const ClusterSnapshot& snapshot, double since_wall_s) {
  std::vector<JobPtr> found;
  for (const JobPtr& job : snapshot.jobs) {
    if (job->managed || job->finished || job->deleting || !job->is_for_queue()) continue;
    const Namespace* ns = snapshot.find_namespace(job->key.ns);
    if (ns == nullptr || !ns->managed) continue;
    if (job->created_s > std::max(since_wall_s, ns->managed_since_s) + kReviewsBegin_s)
      found.push_back(job);
  }
  return found;
}

}  // namespace slackline::core

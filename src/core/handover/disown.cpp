#include "slackline/core/handover/disown.h"

#include <algorithm>
#include <utility>

#include "slackline/core/handover/return_to_scheduler.h"
#include "slackline/model/reason.h"

namespace slackline::core {

std::vector<OwnWrite> disown(const ClusterSnapshot& snapshot, double now_steady_s,
                             std::size_t at_most) {
  std::vector<OwnWrite> writes = return_given_up(snapshot, now_steady_s);
  const Decision disbelieve{.reason = reason::kPlanDisbelieved};
  for (const JobPtr& job : snapshot.jobs)
    if (job->plan_doubt != PlanDoubt::kNone)
      writes.push_back(job_write(*job, ClearPlan{},
                                 job->plan_doubt == PlanDoubt::kPaused ? Decision{} : disbelieve));
  for (const PodPtr& pod : snapshot.unbound)
    if (pod->plan_doubt != PlanDoubt::kNone && !pod->deleting)
      writes.push_back(pod_write(*pod, UnplanPod{}, disbelieve));
  if (writes.size() <= at_most) return writes;
  const auto first = static_cast<std::ptrdiff_t>(snapshot.version % writes.size());
  std::rotate(writes.begin(), writes.begin() + first, writes.end());
  writes.resize(at_most);
  return writes;
}

}  // namespace slackline::core

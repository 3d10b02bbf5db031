#include "control/serve/recent_admissions.h"

#include <algorithm>

namespace slackline::control {
namespace {

constexpr double kForgotten_s = 2;

bool waits_in(const Job& job, const std::string& queue) {
  if (!job.suspended || !job.suspended_by_us || job.finished || !job.pod_requests.wants_gpus())
    return false;
  return (job.intent ? queue_of(*job.intent, job.key.ns) : job.key.ns) == queue;
}

}  // namespace

std::int64_t RecentAdmissions::waiting_in(const std::string& queue, const ClusterSnapshot& snapshot,
                                          const ObjectKey& except, double now_steady_s) {
  const auto in_snapshot =
      std::count_if(snapshot.jobs.begin(), snapshot.jobs.end(),
                    [&](const JobPtr& job) { return job->key != except && waits_in(*job, queue); });
  MutexLock lock(mutex_);
  std::erase_if(admitted_, [&](const Admitted& each) {
    return now_steady_s - each.at_s > kForgotten_s ||
           snapshot.find_job(each.job.ns, each.job.name) != nullptr;
  });
  const auto since = std::count_if(admitted_.begin(), admitted_.end(), [&](const Admitted& each) {
    return each.queue == queue && each.job != except;
  });
  return in_snapshot + since;
}

void RecentAdmissions::note(const std::string& queue, const ObjectKey& job, double now_steady_s) {
  MutexLock lock(mutex_);
  admitted_.push_back({queue, job, now_steady_s});
}

}  // namespace slackline::control

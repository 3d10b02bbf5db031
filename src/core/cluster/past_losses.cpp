#include "past_losses.h"

namespace slackline::core {
namespace {

// Between replicas. What was noted later than that was noted by a clock that was wrong.
constexpr double kClockError_s = 60;

double gpus_of(const Job& job) {
  if (job.plan) return static_cast<double>(job.plan->shape.gpus());
  return static_cast<double>(job.pod_requests.gpu_total()) * static_cast<double>(job.parallelism);
}

}  // namespace

LossAccounts past_losses(const ClusterSnapshot& snapshot, const NumberOfQueue& number_of,
                         double now_wall_s) {
  static const TaskIntent kNothing;
  LossAccounts accounts;
  const double since_s = now_wall_s - kAccountedFor_s;
  for (const JobPtr& job : snapshot.jobs) {
    if (job->preemptions)
      for (const PreemptionNote::Charge& charge : job->preemptions->charges)
        if (charge.at_s > since_s && charge.at_s <= now_wall_s + kClockError_s)
          accounts.charge(number_of(charge.queue), charge.at_s, charge.gpu_s);
    if (!job->managed || !job->finished || !job->started_s || !job->ended_s) continue;
    if (*job->ended_s <= since_s) continue;
    const TaskIntent& intent = job->intent ? *job->intent : kNothing;
    accounts.use(number_of(queue_of(intent, job->key.ns)), *job->started_s, *job->ended_s,
                 gpus_of(*job));
  }
  return accounts;
}

}  // namespace slackline::core

#include "past_losses.h"

namespace slackline::core {
namespace {

// Between replicas. What was noted later than that was noted by a clock that was wrong.
constexpr double kClockError_s = 60;

}  // namespace

double gpus_of(const Job& job) {
  if (job.plan) return static_cast<double>(job.plan->shape.gpus());
  return static_cast<double>(job.pod_requests.gpu_total()) * static_cast<double>(job.parallelism);
}

LossAccounts past_losses(const ClusterSnapshot& snapshot, const Evictions* evictions,
                         const QueueRulebook& rules, const NumberOfAccount& number_of,
                         double now_wall_s) {
  static const TaskIntent kNothing;
  LossAccounts accounts;
  const double since_s = now_wall_s - kAccountedFor_s;
  if (evictions != nullptr)
    for (const Evictions::Eviction& each : evictions->done)
      if (each.at_s > since_s) accounts.charge(number_of(each.queue), each.at_s, each.lost_gpu_s);
  for (const JobPtr& job : snapshot.jobs) {
    if (job->preemptions)
      for (const PreemptionNote::Charge& charge : job->preemptions->charges)
        if (charge.at_s > since_s && charge.at_s <= now_wall_s + kClockError_s)
          accounts.charge(number_of(charge.queue), charge.at_s, charge.gpu_s);
    if (!job->managed || !job->finished || !job->started_s || !job->ended_s) continue;
    if (*job->ended_s <= since_s) continue;
    const TaskIntent& intent = job->intent ? *job->intent : kNothing;
    const std::string queue = queue_of(intent, job->key.ns);
    accounts.use(number_of(rules.account(queue, job->key.ns)), *job->started_s, *job->ended_s,
                 gpus_of(*job));
  }
  return accounts;
}

}  // namespace slackline::core

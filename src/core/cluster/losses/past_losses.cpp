#include "past_losses.h"

#include <set>
#include <utility>

namespace slackline::core {
namespace {

// Between replicas. What was noted later than that was noted by a clock that was wrong.
constexpr double kClockError_s = 60;

}  // namespace

double gpus_of(const Job& job) {
  if (job.plan) return static_cast<double>(job.plan->shape.gpus());
  return static_cast<double>(job.pod_requests.gpu_total()) * static_cast<double>(job.parallelism);
}

LossAccounts past_losses(const ClusterSnapshot& snapshot, const StopBook* book,
                         const QueueRulebook& rules, const NumberOfAccount& number_of,
                         double now_wall_s) {
  static const TaskIntent kNothing;
  LossAccounts accounts;
  const double since_s = now_wall_s - kAccountedFor_s;
  std::set<std::pair<Uid, std::int64_t>> booked;
  if (book != nullptr) {
    for (const BookedStop& each : book->stops) {
      booked.emplace(each.uid, each.count);
      if (each.at_s > since_s)
        accounts.charge(number_of(each.account), each.at_s, each.gpu_s * (each.in_vain_s ? 2 : 1));
    }
    for (const auto& [account, until_s] : book->barred_until_s)
      accounts.bar(number_of(account), until_s);
  }
  for (const JobPtr& job : snapshot.jobs) {
    if (job->preemptions)
      for (const PreemptionNote::Charge& charge : job->preemptions->charges)
        if (charge.at_s > since_s && charge.at_s <= now_wall_s + kClockError_s &&
            !booked.contains({job->uid, charge.stop}))
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

#include "control/serve/recent_admissions.h"

#include <algorithm>
#include <set>

namespace slackline::control {
namespace {

using Account = RecentAdmissions::Account;

bool counts_for(const Account& account, const std::shared_ptr<const TaskIntent>& intent,
                const std::string& ns) {
  const std::string queue = intent ? queue_of(*intent, ns) : ns;
  return account.rules.account(queue, ns) == account.name;
}

bool waits_in(const Job& job, const Account& account) {
  return job.waits_with_us() && job.pod_requests.wants_gpus() &&
         counts_for(account, job.intent, job.key.ns);
}

bool waits_in(const Pod& pod, const Account& account) {
  return pod.our_gate && pod.managed && !pod.owner && !pod.deleting && !pod.plan &&
         pod.requests.wants_gpus() && counts_for(account, pod.intent, pod.key.ns);
}

std::int64_t count_shown(const Account& account, const ClusterSnapshot& snapshot,
                         const WaitingTask& except) {
  std::int64_t count =
      std::count_if(snapshot.jobs.begin(), snapshot.jobs.end(), [&](const JobPtr& job) {
        return waits_in(*job, account) && WaitingTask{"Job", job->key} != except;
      });
  std::set<WaitingTask> gangs;
  for (const PodPtr& pod : snapshot.unbound) {
    if (!waits_in(*pod, account)) continue;
    const WaitingTask task = task_of_bare_pod(*pod);
    if (task != except && (task.kind == "Pod" || gangs.insert(task).second)) ++count;
  }
  return count;
}

}  // namespace

WaitingTask task_of_bare_pod(const Pod& pod) {
  if (pod.intent && pod.intent->gang) return {"Gang", {pod.key.ns, *pod.intent->gang}};
  return {"Pod", pod.key};
}

// Other members of the gang may have been there before: only its place in the queue shows it.
bool RecentAdmissions::is_shown(const Admitted& admitted, const QueueRulebook& rules,
                                const ClusterSnapshot& snapshot) {
  const auto& [kind, key] = admitted.task;
  const Account account{admitted.account, rules};
  if (kind == "Job") {
    const Job* job = snapshot.find_job(key.ns, key.name);
    return job != nullptr && (!admitted.moved || waits_in(*job, account));
  }
  if (kind == "Pod") {
    const PodPtr pod = snapshot.find_unbound(key);
    return pod != nullptr && (!admitted.moved || waits_in(*pod, account));
  }
  return std::any_of(snapshot.unbound.begin(), snapshot.unbound.end(), [&](const PodPtr& pod) {
    return pod->key.ns == key.ns && waits_in(*pod, account) &&
           task_of_bare_pod(*pod) == admitted.task;
  });
}

void RecentAdmissions::forget(const QueueRulebook& rules, const ClusterSnapshot& snapshot,
                              double now_s) {
  std::erase_if(distrusted_, [&](const auto& each) { return each.second < now_s; });
  std::erase_if(admitted_, [&](const Admitted& each) SLACKLINE_REQUIRES(mutex_) {
    if (is_shown(each, rules, snapshot)) return true;
    if (now_s - each.at_s <= kForgotten_s) return false;
    const double until_s = each.at_s + kForgotten_s + kDistrusted_s;
    if (until_s > now_s && has_credit(each.task.key.ns)) distrusted_[each.task.key.ns] = until_s;
    return true;
  });
}

bool RecentAdmissions::has_credit(const std::string& ns) const {
  return distrusted_.size() < kMostDistrusted && !distrusted_.contains(ns);
}

std::int64_t RecentAdmissions::waiting_in(const Account& account, const ClusterSnapshot& snapshot,
                                          const WaitingTask& except, double now_steady_s) {
  const std::int64_t shown = count_shown(account, snapshot, except);
  MutexLock lock(mutex_);
  forget(account.rules, snapshot, now_steady_s);
  std::set<WaitingTask> since;
  for (const Admitted& each : admitted_)
    if (each.account == account.name && each.task != except && has_credit(each.task.key.ns))
      since.insert(each.task);
  return shown + static_cast<std::int64_t>(since.size());
}

void RecentAdmissions::note(const std::string& account, const WaitingTask& task, bool moved,
                            double now_steady_s) {
  MutexLock lock(mutex_);
  if (admitted_.size() >= kMostKept) admitted_.pop_front();
  admitted_.push_back({account, task, moved, now_steady_s});
}

}  // namespace slackline::control

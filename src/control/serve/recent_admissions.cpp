#include "control/serve/recent_admissions.h"

#include <algorithm>
#include <set>

namespace slackline::control {
namespace {

using Account = RecentAdmissions::Account;

bool counts_for(const Account& account, const TaskIntent* intent, const std::string& ns) {
  const std::string queue = intent != nullptr ? queue_of(*intent, ns) : ns;
  return account.rules.account(queue, ns) == account.name;
}

bool waits_in(const Job& job, const Account& account) {
  return job.waits_with_us() && job.pod_requests.wants_gpus() &&
         counts_for(account, job.intent.get(), job.key.ns);
}

// Its pods may not be there yet.
bool has_job_of(const WaitingTask& gang, const Account& account, const ClusterSnapshot& snapshot) {
  return std::any_of(snapshot.jobs.begin(), snapshot.jobs.end(), [&](const JobPtr& job) {
    return job->owner_gang && !job->finished && !job->suspended && !job->deleting &&
           waiting_task_of(*job) == gang && counts_for(account, job->intent.get(), job->key.ns);
  });
}

// It has the proof of its JobSet's pods.
const TaskIntent* intent_of(const Pod& pod, const ClusterSnapshot& snapshot) {
  const Job* job = owning_job(snapshot, pod);
  return job != nullptr ? job->intent.get() : pod.intent.get();
}

// Waiting or running, in the account.
bool is_there(const WaitingTask& gang, const Account& account, const ClusterSnapshot& snapshot) {
  const auto is_member = [&](const PodPtr& pod) {
    return pod->key.ns == gang.key.ns && !pod->deleting && waiting_task_of(*pod) == gang &&
           counts_for(account, intent_of(*pod, snapshot), pod->key.ns);
  };
  const auto has_member = [&](const std::vector<PodPtr>& pods) {
    return std::any_of(pods.begin(), pods.end(), is_member);
  };
  return has_job_of(gang, account, snapshot) || has_member(snapshot.unbound) ||
         std::any_of(snapshot.nodes.begin(), snapshot.nodes.end(),
                     [&](const NodeStatePtr& node) { return has_member(node->pods); });
}

bool waits_in(const Pod& pod, const Account& account, const ClusterSnapshot& snapshot) {
  return pod.our_gate && pod.managed && (!pod.owner || pod.owner_gang) && !pod.deleting &&
         !pod.plan && pod.requests.wants_gpus() &&
         counts_for(account, intent_of(pod, snapshot), pod.key.ns);
}

std::int64_t count_shown(const Account& account, const ClusterSnapshot& snapshot,
                         const WaitingTask& except) {
  std::int64_t count =
      std::count_if(snapshot.jobs.begin(), snapshot.jobs.end(), [&](const JobPtr& job) {
        return waits_in(*job, account) && WaitingTask{"Job", job->key} != except;
      });
  std::set<WaitingTask> gangs;
  for (const PodPtr& pod : snapshot.unbound) {
    if (!waits_in(*pod, account, snapshot)) continue;
    const WaitingTask task = waiting_task_of(*pod);
    if (task != except && (!task.is_gang() || gangs.insert(task).second)) ++count;
  }
  return count;
}

}  // namespace

WaitingTask waiting_task_of(const Job& job) {
  if (job.owner_gang) return {job.owner_gang->kind, {job.key.ns, job.owner_gang->name}};
  return {"Job", job.key};
}

WaitingTask waiting_task_of(const Pod& pod) {
  if (pod.intent && pod.intent->gang) return {"Gang", {pod.key.ns, *pod.intent->gang}};
  if (pod.owner_gang) return {pod.owner_gang->kind, {pod.key.ns, pod.owner_gang->name}};
  return {"Pod", pod.key};
}

// Other members of a gang that moves may be there before: only its place in the queue shows it.
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
    return pod != nullptr && (!admitted.moved || waits_in(*pod, account, snapshot));
  }
  if (!admitted.moved) return is_there(admitted.task, account, snapshot);
  return std::any_of(snapshot.unbound.begin(), snapshot.unbound.end(), [&](const PodPtr& pod) {
    return pod->key.ns == key.ns && waits_in(*pod, account, snapshot) &&
           waiting_task_of(*pod) == admitted.task;
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
                                          const WaitingTask& asking, double now_steady_s) {
  if (asking.is_gang() && is_there(asking, account, snapshot)) return 0;
  const std::int64_t shown = count_shown(account, snapshot, asking);
  MutexLock lock(mutex_);
  forget(account.rules, snapshot, now_steady_s);
  std::set<WaitingTask> since;
  for (const Admitted& each : admitted_) {
    if (each.account != account.name) continue;
    if (each.task == asking && asking.is_gang()) return 0;
    if (each.task != asking && has_credit(each.task.key.ns)) since.insert(each.task);
  }
  return shown + static_cast<std::int64_t>(since.size());
}

void RecentAdmissions::note(const std::string& account, const WaitingTask& task, bool moved,
                            double now_steady_s) {
  MutexLock lock(mutex_);
  if (admitted_.size() >= kMostKept) admitted_.pop_front();
  admitted_.push_back({account, task, moved, now_steady_s});
}

}  // namespace slackline::control

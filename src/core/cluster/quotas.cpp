#include "slackline/core/cluster/quotas.h"

#include <algorithm>

#include "slackline/base/saturating.h"
#include "slackline/base/text.h"
#include "slackline/core/cluster/each_pod.h"
#include "slackline/core/cluster/holds.h"
#include "slackline/core/cluster/task_catalog.h"

namespace slackline::core {

namespace {

constexpr std::string_view kEndedPodsToo = "count/pods";

}  // namespace

std::int64_t amount_of(const Resources& pod, std::string_view resource) {
  if (resource == "pods" || resource == kEndedPodsToo) return pod.pods;
  if (resource == "cpu") return pod.cpu_milli;
  if (resource == "memory") return pod.memory_bytes;
  return saturating_add(pod.gpu_count(resource), count_of(pod.others, resource));
}

std::string amount_text(const NamedAmount& amount) {
  const std::int64_t value = amount.amount;
  if (amount.resource == "cpu")
    return value % 1000 == 0 ? format("{}", value / 1000) : format("{}m", value);
  if (amount.resource != "memory" && amount.resource != "ephemeral-storage")
    return format("{}", value);
  constexpr std::int64_t kMi = std::int64_t{1} << 20;
  if (value > 0 && value % (kMi << 10) == 0) return format("{}Gi", value / (kMi << 10));
  return value > 0 && value % kMi == 0 ? format("{}Mi", value / kMi) : format("{}", value);
}

bool is_best_effort(const Resources& pod) {
  return pod.cpu_milli == 0 && pod.memory_bytes == 0;
}

bool covers(const ResourceQuota& quota, const Resources& pod) {
  return !quota.other_scopes && !(quota.needs_cpu_or_memory && is_best_effort(pod));
}

std::span<const std::shared_ptr<const ResourceQuota>> quotas_in(const ClusterSnapshot& snapshot,
                                                                const std::string& ns) {
  struct ByNamespace {
    bool operator()(const std::shared_ptr<const ResourceQuota>& quota, const std::string& ns) {
      return quota->key.ns < ns;
    }
    bool operator()(const std::string& ns, const std::shared_ptr<const ResourceQuota>& quota) {
      return ns < quota->key.ns;
    }
  };
  const auto& all = snapshot.quotas;
  const auto [first, last] = std::equal_range(all.begin(), all.end(), ns, ByNamespace{});
  return {first, last};
}

bool is_within_a_quota(const ClusterSnapshot& snapshot, const std::string& ns,
                       const Resources& pod) {
  const auto bounds = [&](const ResourceQuota& quota) {
    return covers(quota, pod) &&
           std::any_of(quota.limits.begin(), quota.limits.end(),
                       [&](const QuotaLimit& limit) { return amount_of(pod, limit.resource) > 0; });
  };
  const auto quotas = quotas_in(snapshot, ns);
  return std::any_of(quotas.begin(), quotas.end(),
                     [&](const auto& quota) { return bounds(*quota); });
}

QuotaBook::QuotaBook(const ClusterSnapshot& snapshot) {
  for (const auto& quota : snapshot.quotas) {
    if (quota->other_scopes || quota->limits.empty()) continue;
    Account account{quota, {}};
    for (const QuotaLimit& limit : quota->limits)
      account.limits.push_back({limits_++, limit.resource, limit.hard, limit.hard});
    accounts_[quota->key.ns].push_back(std::move(account));
  }
  if (accounts_.empty()) return;
  each_pod(snapshot, [&](const Pod& pod) {
    if (pod.terminal() || !accounts_.contains(pod.key.ns)) return;
    charge(pod.key.ns, pod.requests, 1);
    // By owner, not by task: the API server counts pods without GPUs too.
    if (pod.owner) ++pods_of_[pod.owner->uid];
  });
  for (auto& [ns, accounts] : accounts_)
    for (Account& account : accounts)
      for (std::size_t i = 0; i < account.limits.size(); ++i) {
        const QuotaLimit& limit = account.quota->limits[i];
        std::int64_t& left = account.limits[i].left;
        left = std::min(left, saturating_sub(limit.hard, limit.used));
      }
}

void QuotaBook::charge_released(const ClusterSnapshot& snapshot, double now_steady_s,
                                double now_wall_s) {
  if (accounts_.empty()) return;
  for (const JobPtr& job : snapshot.jobs) {
    const bool comes = job->plan || is_opening(*job, now_wall_s);
    if (job->suspended || job->finished || !comes || !accounts_.contains(job->key.ns)) continue;
    const auto at = pods_of_.find(job->uid);
    const std::int64_t there = at == pods_of_.end() ? 0 : at->second;
    if (there < job->wanted_pods())
      charge(job->key.ns, planned_requests(*job), job->wanted_pods() - there);
  }
  for (const SucceededPod* last : followed_by_others(snapshot))
    if (now_steady_s < last->at_s + kNextPodWithin_s)
      charge(last->pod->key.ns, last->pod->requests, 1);
}

bool QuotaBook::all_limits(const std::string& ns, const Resources& pod,
                           const std::function<bool(const Limit&)>& allow) const {
  const auto at = accounts_.find(ns);
  if (at == accounts_.end()) return true;
  return std::all_of(at->second.begin(), at->second.end(), [&](const Account& account) {
    return !covers(*account.quota, pod) ||
           std::all_of(account.limits.begin(), account.limits.end(), allow);
  });
}

bool QuotaBook::admits(const std::string& ns, const Resources& pod, std::int64_t pods) const {
  return all_limits(ns, pod, [&](const Limit& limit) { return leaves_room(limit, pod, pods); });
}

bool QuotaBook::ever_admits(const std::string& ns, const Resources& pod, std::int64_t pods) const {
  return all_limits(ns, pod, [&](const Limit& limit) {
    return saturating_mul(amount_of(pod, limit.resource), pods) <=
           std::max<std::int64_t>(0, limit.hard);
  });
}

bool QuotaBook::leaves_room(const Limit& limit, const Resources& pod, std::int64_t pods) {
  const std::int64_t wanted = saturating_mul(amount_of(pod, limit.resource), pods);
  return wanted <= 0 || wanted <= limit.left;
}

std::vector<QuotaShortage> QuotaBook::shortages(const std::string& ns, const Resources& pod,
                                                std::int64_t pods) const {
  std::vector<QuotaShortage> shortages;
  const auto at = accounts_.find(ns);
  if (at == accounts_.end()) return shortages;
  for (const Account& account : at->second) {
    if (!covers(*account.quota, pod)) continue;
    for (const Limit& limit : account.limits)
      if (!leaves_room(limit, pod, pods))
        shortages.push_back({account.quota->key.name, limit.resource,
                             saturating_mul(amount_of(pod, limit.resource), pods), limit.left,
                             limit.hard, limit.number});
  }
  return shortages;
}

std::vector<std::int64_t> QuotaBook::left() const {
  std::vector<std::int64_t> left(limits_);
  for (const auto& [ns, accounts] : accounts_)
    for (const Account& account : accounts)
      for (const Limit& limit : account.limits)
        left[limit.number] = limit.left;
  return left;
}

std::vector<QuotaNeed> QuotaBook::held(const std::string& ns, const Resources& pod,
                                       std::int64_t pods) const {
  std::vector<QuotaNeed> held;
  const auto at = accounts_.find(ns);
  if (at == accounts_.end()) return held;
  for (const Account& account : at->second) {
    if (!covers(*account.quota, pod)) continue;
    for (const Limit& limit : account.limits)
      if (const auto amount = saturating_mul(amount_of(pod, limit.resource), pods); amount > 0)
        held.push_back({.limit = limit.number,
                        .amount = amount,
                        .held = true,
                        .kept = limit.resource == kEndedPodsToo});
  }
  return held;
}

std::string_view QuotaBook::resource_of(const std::string& ns, std::size_t number) const {
  for (const Account& account : accounts_.at(ns))
    for (const Limit& limit : account.limits)
      if (limit.number == number) return limit.resource;
  return {};
}

void QuotaBook::charge(const std::string& ns, const Resources& pod, std::int64_t pods) {
  const auto at = accounts_.find(ns);
  if (at == accounts_.end()) return;
  for (Account& account : at->second) {
    if (!covers(*account.quota, pod)) continue;
    for (Limit& limit : account.limits)
      limit.left = saturating_sub(limit.left, saturating_mul(amount_of(pod, limit.resource), pods));
  }
}

}  // namespace slackline::core

#include "control/trust/urgent_rights.h"

#include "cluster/api/access_reviewer.h"
#include "slackline/model/task_intent.h"

namespace slackline::control {
namespace {

constexpr double kGrantKept_s = 10;
constexpr double kDenialKept_s = 2;
constexpr std::size_t kMaxKept = 1024;
constexpr std::size_t kMaxNamespaces = 4096;

// Everything that the answer may depend on.
std::string key_of(const Requester& user, const std::string& ns) {
  std::string key = ns + '\n' + user.name + '\n' + user.uid;
  for (const std::string& group : user.groups)
    key += '\n' + group;
  for (const auto& [name, values] : user.extra) {
    key += "\n=" + name;
    for (const std::string& value : values)
      key += '\n' + value;
  }
  return key;
}

}  // namespace

// Forgetting who has asked gives everybody a burst anew; the rate of all still holds.
bool UrgentRights::may_ask(const std::string& ns) {
  if (namespaces_.size() >= kMaxNamespaces && !namespaces_.contains(ns)) namespaces_.clear();
  const double now_s = clock_.steady_s();
  return namespaces_[ns].take(now_s, kNamespaceBurst, kNamespaceRefill_per_s) &&
         all_.take(now_s, kBurst, kRefill_per_s);
}

UrgentRights::Answer UrgentRights::ask(const Requester& user, const std::string& ns) {
  if (reviewer_ == nullptr) return {UrgentRight::kUnknown, "this daemon follows a cluster dump"};
  const std::string key = key_of(user, ns);
  {
    MutexLock lock(mutex_);
    const auto found = kept_.find(key);
    if (found != kept_.end() && found->second.until_s > clock_.steady_s())
      return {found->second.granted ? UrgentRight::kGranted : UrgentRight::kDenied, {}};
    if (!may_ask(ns)) return {UrgentRight::kUnknown, "too many users ask for it at once"};
  }
  const Result<bool> allowed =
      reviewer_->may_use_class(user, ns, std::string(to_string(QosClass::kUrgent)));
  if (!allowed) return {UrgentRight::kUnknown, allowed.error().message};
  MutexLock lock(mutex_);
  if (kept_.size() >= kMaxKept) kept_.clear();
  kept_[key] = {*allowed, clock_.steady_s() + (*allowed ? kGrantKept_s : kDenialKept_s)};
  return {*allowed ? UrgentRight::kGranted : UrgentRight::kDenied, {}};
}

}  // namespace slackline::control

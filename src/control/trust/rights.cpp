#include "control/trust/rights.h"

#include <utility>

#include "cluster/api/reviewer.h"

namespace slackline::control {
namespace {

constexpr double kYesKept_s = 10;
constexpr double kNoKept_s = 2;
constexpr double kWasKnown_s = 3600;
constexpr std::size_t kMaxNamespaces = 4096;

// Everything that the answer may depend on.
std::string key_of(const Requester& user, const ApiDemand& demand) {
  std::string key = demand.verb + '\n' + demand.resource + '\n' + demand.ns + '\n' + demand.name +
                    '\n' + user.name + '\n' + user.uid;
  for (const std::string& group : user.groups)
    key += '\n' + group;
  for (const auto& [name, values] : user.extra) {
    key += "\n=" + name;
    for (const std::string& value : values)
      key += '\n' + value;
  }
  return key;
}

std::string hash_of(const std::string& token) {
  return std::to_string(RefusedTokens::hash(token));
}

// As the API server names ServiceAccounts; nobody else's name begins so.
bool is_service_account_of(const Requester& user, const std::string& ns) {
  const std::string prefix = "system:serviceaccount:" + ns + ":";
  return !ns.empty() && user.name.size() > prefix.size() && user.name.starts_with(prefix);
}

Rights::Answer verdict_on(const Requester& user, bool allowed) {
  return {allowed ? Rights::Verdict::kAllowed : Rights::Verdict::kForbidden, user.name};
}

}  // namespace

std::optional<Rights::Answer> Rights::recall(const Requester& user, const ApiDemand& demand) {
  if (demand.of_namespace) return verdict_on(user, is_service_account_of(user, demand.ns));
  const auto allowed = grants_.find(key_of(user, demand), clock_.steady_s());
  return allowed ? std::optional(verdict_on(user, *allowed)) : std::nullopt;
}

Rights::Answer Rights::review(const Requester& user, const ApiDemand& demand) {
  const auto allowed = reviewer_->may(user, demand);
  if (!allowed) return {Verdict::kCannotTell, allowed.error().message};
  grants_.keep(key_of(user, demand), *allowed,
               clock_.steady_s() + (*allowed ? kYesKept_s : kNoKept_s));
  return verdict_on(user, *allowed);
}

std::optional<Rights::Answer> Rights::recall(const std::string& peer, const std::string& token,
                                             const ApiDemand& demand) {
  const double now_s = clock_.steady_s();
  if (const auto user = callers_.find(token, now_s)) return recall(*user, demand);
  switch (refused_.find(peer, token, now_s)) {
    case RefusedTokens::Known::kRefused:
      return Answer{Verdict::kUnknownCaller, {}};
    case RefusedTokens::Known::kTooMany:
      if (were_known_.find(hash_of(token), now_s)) break;
      return Answer{Verdict::kTooManyUnknown, {}};
    case RefusedTokens::Known::kNothing:
      break;
  }
  return std::nullopt;
}

Rights::Answer Rights::ask(const std::string& peer, const std::string& token,
                           const ApiDemand& demand) {
  // Another call may have asked the same meanwhile.
  if (auto known = recall(peer, token, demand)) return *std::move(known);
  const double now_s = clock_.steady_s();
  std::optional<Requester> user = callers_.find(token, now_s);
  if (!user) {
    auto said = reviewer_->who_is(token);
    if (!said) return {Verdict::kCannotTell, said.error().message};
    user = *std::move(said);
    if (!user) {
      refused_.keep(peer, token, now_s + kNoKept_s);
      return {Verdict::kUnknownCaller, {}};
    }
    callers_.keep(token, *user, now_s + kYesKept_s);
    were_known_.keep(hash_of(token), true, now_s + kWasKnown_s);
  }
  if (demand.of_namespace) return *recall(*user, demand);
  return review(*user, demand);
}

Rights::Answer Rights::ask(const Requester& user, const ApiDemand& demand) {
  if (auto known = recall(user, demand)) return *std::move(known);
  return review(user, demand);
}

// Forgetting who has asked gives everybody a new burst; the rate of all still holds.
bool Rights::is_within_rate(const std::string& ns) {
  MutexLock lock(mutex_);
  if (namespaces_.size() >= kMaxNamespaces && !namespaces_.contains(ns)) namespaces_.clear();
  const double now_s = clock_.steady_s();
  return namespaces_[ns].take(now_s, kNamespaceBurst, kNamespaceRefill_per_s) &&
         all_.take(now_s, kBurst, kRefill_per_s);
}

Rights::Answer Rights::may(const Requester& user, const ApiDemand& demand) {
  if (reviewer_ == nullptr) return {Verdict::kCannotTell, "this daemon follows a cluster dump"};
  if (auto known = recall(user, demand)) return *std::move(known);
  if (!is_within_rate(demand.ns))
    return {Verdict::kCannotTell, "too many users ask for it at once"};
  return review(user, demand);
}

}  // namespace slackline::control

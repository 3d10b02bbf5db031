#include "control/serve/api_rights.h"

#include "cluster/api_reviewer.h"

namespace slackline::control {
namespace {

constexpr double kYesKept_s = 10;
constexpr double kNoKept_s = 2;

}  // namespace

ApiRights::Answer ApiRights::ask(const std::string& token, const ApiDemand& demand) {
  const auto user = who_is(token);
  if (!user) return {Verdict::kCannotTell, user.error().message};
  if (!*user) return {Verdict::kUnknownCaller, {}};
  const auto allowed = may(**user, token, demand);
  if (!allowed) return {Verdict::kCannotTell, allowed.error().message};
  return {*allowed ? Verdict::kAllowed : Verdict::kForbidden, (*user)->name};
}

Result<std::optional<Requester>> ApiRights::who_is(const std::string& token) {
  const double now_s = clock_.steady_s();
  if (auto known = callers_.find(token, now_s)) return *std::move(known);
  SLACKLINE_ASSIGN(auto user, reviewer_.who_is(token));
  callers_.keep(token, user, now_s + (user ? kYesKept_s : kNoKept_s));
  return user;
}

Result<bool> ApiRights::may(const Requester& user, const std::string& token,
                            const ApiDemand& demand) {
  const double now_s = clock_.steady_s();
  const std::string key = token + '\n' + demand.verb + '\n' + demand.resource + '\n' + demand.ns;
  if (const auto known = grants_.find(key, now_s)) return *known;
  SLACKLINE_ASSIGN(const bool allowed, reviewer_.may(user, demand));
  grants_.keep(key, allowed, now_s + (allowed ? kYesKept_s : kNoKept_s));
  return allowed;
}

}  // namespace slackline::control

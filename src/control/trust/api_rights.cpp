#include "control/trust/api_rights.h"

#include "cluster/api/api_reviewer.h"

namespace slackline::control {
namespace {

constexpr double kYesKept_s = 10;
constexpr double kNoKept_s = 2;

std::string key_of(const std::string& token, const ApiDemand& demand) {
  return token + '\n' + demand.verb + '\n' + demand.resource + '\n' + demand.ns;
}

ApiRights::Answer verdict_on(const Requester& user, bool allowed) {
  return {allowed ? ApiRights::Verdict::kAllowed : ApiRights::Verdict::kForbidden, user.name};
}

}  // namespace

std::optional<ApiRights::Answer> ApiRights::recall(const std::string& peer,
                                                   const std::string& token,
                                                   const ApiDemand& demand) {
  const double now_s = clock_.steady_s();
  if (const auto user = callers_.find(token, now_s)) {
    const auto allowed = grants_.find(key_of(token, demand), now_s);
    return allowed ? std::optional(verdict_on(*user, *allowed)) : std::nullopt;
  }
  switch (refused_.find(peer, token, now_s)) {
    case RefusedTokens::Known::kRefused:
      return Answer{Verdict::kUnknownCaller, {}};
    case RefusedTokens::Known::kTooMany:
      return Answer{Verdict::kTooManyUnknown, {}};
    case RefusedTokens::Known::kNothing:
      break;
  }
  return std::nullopt;
}

ApiRights::Answer ApiRights::ask(const std::string& peer, const std::string& token,
                                 const ApiDemand& demand) {
  // Another call may have asked the same meanwhile.
  if (auto known = recall(peer, token, demand)) return *std::move(known);
  const double now_s = clock_.steady_s();
  std::optional<Requester> user = callers_.find(token, now_s);
  if (!user) {
    auto said = reviewer_.who_is(token);
    if (!said) return {Verdict::kCannotTell, said.error().message};
    user = *std::move(said);
    if (!user) {
      refused_.keep(peer, token, now_s + kNoKept_s);
      return {Verdict::kUnknownCaller, {}};
    }
    callers_.keep(token, *user, now_s + kYesKept_s);
  }
  const auto allowed = reviewer_.may(*user, demand);
  if (!allowed) return {Verdict::kCannotTell, allowed.error().message};
  grants_.keep(key_of(token, demand), *allowed, now_s + (*allowed ? kYesKept_s : kNoKept_s));
  return verdict_on(*user, *allowed);
}

}  // namespace slackline::control

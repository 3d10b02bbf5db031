#include "http/routes/api_guard.h"

#include <string>
#include <string_view>
#include <utility>

#include "slackline/base/text.h"
#include "wire/rest/status_codec.h"

namespace slackline::http {
namespace {

using Verdict = control::Rights::Verdict;

constexpr std::string_view kGuarded = "/v1/";
constexpr std::size_t kMaxToken = 16384;

Response refusal(int status, std::string_view reason, const std::string& message) {
  Response response;
  response.status = status;
  response.body = wire::encode_status_error(status, reason, message);
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

// "Bearer abc" is "abc"; empty if there is none.
std::string token_of(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (authorization.size() <= kScheme.size() || authorization.size() > kMaxToken ||
      to_lower(authorization.substr(0, kScheme.size())) != kScheme)
    return {};
  return std::string(trim(authorization.substr(kScheme.size())));
}

std::string namespace_of(const Route& route, const Request& request) {
  if (const auto ns = request.params.find("ns"); ns != request.params.end()) return ns->second;
  if (route.namespace_parameter.empty()) return {};
  const auto given = request.query.find(route.namespace_parameter);
  return given == request.query.end() ? "" : given->second.substr(0, given->second.find('/'));
}

std::string how_to_grant(const ApiDemand& demand, const std::string& user) {
  const std::string what = format("{} {}.slackline.dev", demand.verb, demand.resource);
  const std::string account = printable(user, 128);
  if (demand.of_namespace)
    return format(
        "{} is not a ServiceAccount of the namespace {}; send the token of a pod of that namespace",
        account, printable(demand.ns, 64));
  if (demand.ns.empty())
    return format(
        "{} may not {} in all namespaces; name one, or ask for the right by a ClusterRoleBinding",
        account, what);
  return format("{} may not {} in the namespace {}; ask for the right by a RoleBinding there",
                account, what, printable(demand.ns, 64));
}

// Three parts of base64url, as every token of a ServiceAccount and of OpenID Connect is written.
bool may_be_jwt(std::string_view token) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::size_t parts = 0;
  for (;;) {
    const std::size_t dot = token.find('.');
    const std::string_view part = token.substr(0, dot);
    if (part.empty() || part.find_first_not_of(kAlphabet) != std::string_view::npos) return false;
    ++parts;
    if (dot == std::string_view::npos) return parts == 3;
    token.remove_prefix(dot + 1);
  }
}

GuardAnswer answer_of(const control::Rights::Answer& answer, const ApiDemand& demand) {
  switch (answer.verdict) {
    case Verdict::kAllowed:
      return {};
    case Verdict::kUnknownCaller:
      return {refusal(401, "Unauthorized", "the API server does not know this token")};
    case Verdict::kTooManyUnknown:
      return {refusal(429, "TooManyRequests",
                      "too many unknown tokens came from your address; wait two seconds")};
    case Verdict::kForbidden:
      return {refusal(403, "Forbidden", how_to_grant(demand, answer.detail))};
    case Verdict::kCannotTell:
      break;
  }
  return {refusal(503, "ServiceUnavailable",
                  "the API server could not be asked who you are; try again")};
}

// Refusals without asking the API server.
std::optional<GuardAnswer> refuse_token(const std::string& token) {
  if (token.empty())
    return GuardAnswer{
        refusal(401, "Unauthorized",
                "send a token of the cluster: Authorization: Bearer TOKEN, e.g. of `kubectl "
                "create token SERVICEACCOUNT`")};
  if (!may_be_jwt(token))
    return GuardAnswer{refusal(401, "Unauthorized",
                               "this is not a token of the cluster (a JSON Web Token); `kubectl "
                               "create token SERVICEACCOUNT` makes one")};
  return std::nullopt;
}

std::optional<Requester> copy_of(const Requester* caller) {
  return caller == nullptr ? std::nullopt : std::optional(*caller);
}

}  // namespace

std::optional<ApiDemand> demand_of(const Route& route, const Request& request) {
  if (!route.pattern.starts_with(kGuarded)) return std::nullopt;
  const std::string rest = route.pattern.substr(kGuarded.size());
  const std::string_view verb = route.method == "GET"      ? "get"
                                : route.method == "POST"   ? "create"
                                : route.method == "DELETE" ? "delete"
                                                           : "update";
  return ApiDemand{.verb = std::string(verb),
                   .resource = rest.substr(0, rest.find('/')),
                   .ns = namespace_of(route, request),
                   .of_namespace = route.for_workloads};
}

control::Viewer viewer_of(control::Rights& rights, const Request& request) {
  const auto may = [&rights, peer = std::string(request.peer),
                    token = token_of(request.authorization),
                    caller = copy_of(request.caller)](const ApiDemand& demand) {
    const auto answer = caller ? rights.ask(*caller, demand) : rights.ask(peer, token, demand);
    return answer.verdict == Verdict::kAllowed;
  };
  return control::Viewer(
      [may](const std::string& ns) { return may({.verb = "get", .resource = "tasks", .ns = ns}); },
      [may](const std::string& ns) {
        return may({.verb = "use", .resource = "qosclasses", .ns = ns, .name = "urgent"});
      });
}

Guard make_api_guard(control::Rights& rights) {
  Guard guard;
  guard.recall = [&rights](const Route& route,
                           const Request& request) -> std::optional<GuardAnswer> {
    const auto demand = demand_of(route, request);
    if (!demand) return GuardAnswer();
    if (request.caller != nullptr) return std::nullopt;
    const std::string token = token_of(request.authorization);
    if (auto refused = refuse_token(token)) return refused;
    const auto known = rights.recall(std::string(request.peer), token, *demand);
    return known ? std::optional(answer_of(*known, *demand)) : std::nullopt;
  };
  guard.ask = [&rights](const Route& route, const Request& request) {
    const auto demand = demand_of(route, request);
    if (!demand) return GuardAnswer();
    if (request.caller != nullptr) return answer_of(rights.ask(*request.caller, *demand), *demand);
    const std::string token = token_of(request.authorization);
    return answer_of(rights.ask(std::string(request.peer), token, *demand), *demand);
  };
  return guard;
}

}  // namespace slackline::http

#include "http/routes/gateway_routes.h"

#include <utility>

#include "http/routes/answers.h"
#include "http/routes/page_routes.h"
#include "slackline/base/text.h"
#include "wire/rest/status_codec.h"

namespace slackline::http {
namespace {

constexpr std::size_t kMaxAsked = std::size_t{1} << 20;

// The time that it takes does not tell how much of it is right.
bool same_secret(std::string_view given, std::string_view secret) {
  if (given.size() != secret.size()) return false;
  unsigned char differs = 0;
  for (std::size_t i = 0; i < secret.size(); ++i)
    differs |= static_cast<unsigned char>(given[i] ^ secret[i]);
  return differs == 0;
}

std::optional<GuardAnswer> judge_secret(const std::string& expected, const Route& route,
                                        const Request& request) {
  if (route.pattern == "/" || route.pattern.starts_with("/page/")) return GuardAnswer();
  if (same_secret(request.authorization, expected)) return GuardAnswer();
  Response refused = json(wire::encode_status_error(
      401, "Unauthorized",
      "open the URL that `slackline page` has printed, with all that follows its #"));
  refused.status = 401;
  return GuardAnswer{std::move(refused)};
}

}  // namespace

void add_gateway_routes(Router& router, Forward forward) {
  add_page_routes(router);
  const auto pass_on = [forward = std::move(forward)](const Request& request) {
    auto answer = forward({request.method, request.target, request.body});
    if (!answer) return failure(answer.error());
    return request.path.starts_with("/v1/") || request.path == "/openapi.json"
               ? json(*std::move(answer))
               : text(*std::move(answer));
  };
  for (const char* pattern : {"/v1/{a}", "/v1/{a}/{b}", "/v1/{a}/{b}/{c}", "/v1/{a}/{b}/{c}/{d}",
                              "/metrics", "/readyz", "/openapi.json"})
    router.add({.method = "GET", .pattern = pattern, .handler = pass_on});
  router.add({.method = "POST", .pattern = "/v1/quote", .handler = pass_on, .max_body = kMaxAsked});
  router.add({.method = "GET", .pattern = "/v1/events", .handler = [](const Request&) {
                return failure({ErrorCode::kNotFound, "`slackline page` passes no events on"});
              }});
}

Guard make_secret_guard(std::string secret) {
  Guard guard;
  guard.recall = [expected = "Bearer " + std::move(secret)](const Route& route,
                                                            const Request& request) {
    return judge_secret(expected, route, request);
  };
  guard.ask = [](const Route&, const Request&) { return GuardAnswer(); };
  return guard;
}

}  // namespace slackline::http

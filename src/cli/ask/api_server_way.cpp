#include "cli/ask/api_server_way.h"

#include <atomic>
#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>

#include "cli/called.h"
#include "cluster/api/api_client.h"
#include "http/routes/visible_paths.h"
#include "slackline/base/text.h"
#include "slackline/model/object_key.h"

namespace slackline::cli {
namespace {

net::Headers impersonation(const ApiServerWay& options) {
  net::Headers headers;
  if (!options.as.empty()) headers.emplace_back("Impersonate-User", options.as);
  if (!options.as_uid.empty()) headers.emplace_back("Impersonate-Uid", options.as_uid);
  for (const std::string& group : options.as_groups)
    headers.emplace_back("Impersonate-Group", group);
  return headers;
}

// 401 is no lack of a right, which naming a namespace or asking for a role would mend.
Error error_of(const cluster::ApiFailure& failure) {
  if (failure.status != 401) return failure.error();
  return {ErrorCode::kUnavailable,
          format("the kubeconfig's credentials are refused: log in again ({})", failure.message)};
}

client::Page page_of(net::HttpResponse answer) {
  client::Page page{std::move(answer.body), ""};
  const std::string wanted = to_lower(client::kContinueHeader);
  for (auto& [name, value] : answer.headers)
    if (name == wanted) page.next = std::move(value);
  return page;
}

// One API server with both ways. Thread-safe: who asks at the same time finds the same way.
class BothWays {
 public:
  BothWays(const ApiServerWay& options, std::unique_ptr<cluster::ApiClient> api, std::string proxy)
      : api_(std::move(api)),
        proxy_(std::move(proxy)),
        who_(impersonation(options)),
        timeout_s_(options.timeout_s),
        in_a_hurry_(options.in_a_hurry),
        found_(options.service_named ? Found::kProxy : Found::kNothing) {}

  Result<client::Page> ask(const client::Asked& asked) {
    if (!in_a_hurry_) SLACKLINE_TRY(api_->await_credential());
    SLACKLINE_ASSIGN(const Found found, find());
    if (found == Found::kAggregated) return ask_aggregated(asked);
    if (asked.method != "GET")
      return fail(ErrorCode::kInvalidArgument,
                  "through the API server's service proxy the daemon can only be read: name a "
                  "listener of the daemon with --server, or in SLACKLINE_SERVER");
    auto answer = send(asked, proxy_ + std::string(asked.target));
    if (!answer) return fail(error_of(answer.error()));
    return page_of(*std::move(answer));
  }

 private:
  enum class Found { kNothing, kAggregated, kProxy };

  // Whoever may not even see that it is there has the other way.
  Result<Found> find() {
    if (const Found known = found_; known != Found::kNothing) return known;
    const auto said = send({"GET", {}, "application/json", {}}, std::string(http::kVisibilityRoot));
    if (!said && said.error().status == 503)
      return fail(ErrorCode::kUnavailable,
                  format("the aggregated API v1.{} is installed and does not answer ({}): `kubectl "
                         "get apiservice v1.{}` says why",
                         http::kVisibilityGroup, said.error().message, http::kVisibilityGroup));
    if (!said && said.error().status != 404 && said.error().status != 403)
      return fail(error_of(said.error()));
    found_ = said ? Found::kAggregated : Found::kProxy;
    return found_.load();
  }

  Result<client::Page> ask_aggregated(const client::Asked& asked) {
    const auto target = http::visible_target(asked.method, asked.target);
    if (!target)
      return fail(ErrorCode::kInvalidArgument,
                  "the aggregated API only answers questions: name a listener of the daemon with "
                  "--server, or in SLACKLINE_SERVER");
    auto answer = send(asked, *target);
    if (answer) return page_of(*std::move(answer));
    Error error = error_of(answer.error());
    if (answer.error().status == 403)
      error.message +=
          "; the ClusterRole view gives the right in a namespace, slackline-visibility-view with a "
          "ClusterRoleBinding in all";
    return fail(std::move(error));
  }

  cluster::ApiResult<net::HttpResponse> send(const client::Asked& asked, std::string url) {
    net::HttpRequest request;
    request.method = asked.method;
    request.url = std::move(url);
    request.headers = who_;
    request.headers.emplace_back("Accept", asked.accept);
    if (!asked.body.empty()) request.headers.emplace_back("Content-Type", "application/yaml");
    request.body = asked.body;
    request.timeout_s = timeout_s_;
    return api_->send(std::move(request));
  }

  const std::unique_ptr<cluster::ApiClient> api_;
  const std::string proxy_;  // the prefix of its paths
  const net::Headers who_;
  const double timeout_s_;
  const bool in_a_hurry_;
  std::atomic<Found> found_;
};

}  // namespace

Result<client::Way> way_through_api_server(const ApiServerWay& options) {
  SLACKLINE_ASSIGN(const ObjectKey service, parse_object_key(options.service));
  SLACKLINE_ASSIGN(auto api, cluster::connect(options.access));
  for (const std::string& warning : api->endpoint().warnings)
    std::fprintf(stderr, "%s: kubeconfig: %s\n", program().c_str(), warning.c_str());
  std::string prefix =
      format("/api/v1/namespaces/{}/services/{}/proxy", cluster::path_segment(service.ns),
             cluster::path_segment(service.name));
  const auto ways = std::make_shared<BothWays>(options, std::move(api), std::move(prefix));
  return client::Way([ways](const client::Asked& asked) { return ways->ask(asked); });
}

}  // namespace slackline::cli

#include "cli/ask/api_server_way.h"

#include <memory>
#include <string_view>
#include <utility>

#include "cluster/api/api_client.h"
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

client::Page page_of(net::HttpResponse answer) {
  client::Page page{std::move(answer.body), ""};
  const std::string wanted = to_lower(client::kContinueHeader);
  for (auto& [name, value] : answer.headers)
    if (name == wanted) page.next = std::move(value);
  return page;
}

}  // namespace

Result<client::Way> way_through_api_server(const ApiServerWay& options) {
  SLACKLINE_ASSIGN(const ObjectKey service, parse_object_key(options.service));
  SLACKLINE_ASSIGN(auto connected, cluster::connect(options.access));
  const std::shared_ptr<cluster::ApiClient> api = std::move(connected);
  const std::string prefix =
      format("/api/v1/namespaces/{}/services/{}/proxy", cluster::path_segment(service.ns),
             cluster::path_segment(service.name));
  return client::Way([api, prefix, who = impersonation(options), timeout_s = options.timeout_s](
                         const client::Asked& asked) -> Result<client::Page> {
    net::HttpRequest request;
    request.method = asked.method;
    request.url = prefix + std::string(asked.target);
    request.headers = who;
    request.headers.emplace_back("Accept", asked.accept);
    if (!asked.body.empty()) request.headers.emplace_back("Content-Type", "application/yaml");
    request.body = asked.body;
    request.timeout_s = timeout_s;
    auto answer = api->send(std::move(request));
    if (!answer) return fail(answer.error().error());
    return page_of(*std::move(answer));
  });
}

}  // namespace slackline::cli

#include "cluster/api/server_version.h"

#include "cluster/api/api_client.h"
#include "wire/kube/version_codec.h"

namespace slackline::cluster {

Result<int> server_minor(const KubeAccess& access) {
  SLACKLINE_ASSIGN(KubeEndpoint endpoint, find_endpoint(access));
  ApiClient client(std::move(endpoint), system_clock());
  net::HttpRequest request;
  request.url = "/version";
  request.timeout_s = 3;
  const auto answer = client.send(std::move(request));
  if (!answer) return fail(answer.error().error().with_context("asking for the server's version"));
  return wire::decode_server_minor(answer->body);
}

}  // namespace slackline::cluster

#include "cluster/lease/lease_client.h"

#include <utility>

#include "cluster/api/object_path.h"

namespace slackline::cluster {
namespace {

constexpr double kRequestTimeout_s = 3;
constexpr std::string_view kGroup = "/apis/coordination.k8s.io/v1";

}  // namespace

Result<wire::LeaseRecord> LeaseClient::read() {
  net::HttpRequest request;
  SLACKLINE_ASSIGN(request.url, object_path(kGroup, "leases", key_));
  request.timeout_s = kRequestTimeout_s;
  const auto answer = client_.send(std::move(request));
  if (!answer) return fail(answer.error().error());
  return wire::decode_lease(answer->body);
}

Result<wire::LeaseRecord> LeaseClient::write(wire::LeaseRecord lease) {
  const bool create = lease.resource_version.empty();
  lease.renewed_s = clock_.wall_s();
  net::HttpRequest request;
  request.method = create ? "POST" : "PUT";
  if (create) {
    SLACKLINE_ASSIGN(request.url, collection_path(kGroup, "leases", key_.ns));
  } else {
    SLACKLINE_ASSIGN(request.url, object_path(kGroup, "leases", key_));
  }
  request.headers = {{"Content-Type", "application/json"}};
  request.body = wire::encode_lease(key_, lease);
  request.timeout_s = kRequestTimeout_s;
  const auto answer = client_.send(std::move(request));
  if (!answer) return fail(answer.error().error());
  return wire::decode_lease(answer->body);
}

}  // namespace slackline::cluster

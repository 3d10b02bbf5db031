#include "cluster/api/removal.h"

#include <utility>

#include "cluster/api/front_proxy.h"
#include "cluster/api/object_path.h"
#include "cluster/lease/lease_client.h"
#include "wire/format/json_view.h"
#include "wire/format/json_writer.h"
#include "wire/kube/lease_codec.h"

namespace slackline::cluster {
namespace {

constexpr int kAttempts = 5;  // another replica may renew the Lease in between
constexpr std::string_view kAdmissionGroup = "/apis/admissionregistration.k8s.io/v1";
constexpr std::string_view kLeaseGroup = "/apis/coordination.k8s.io/v1";

bool gone(const Error& error) {
  return error.code == ErrorCode::kNotFound;
}

}  // namespace

Status Removal::remove(const Result<std::string>& path, const std::string& body) {
  if (!path) return fail(path.error());
  const Status sent =
      client_.put("DELETE", *path, body, body.empty() ? std::string() : "application/json");
  return sent || gone(sent.error()) ? Status() : sent;
}

Status Removal::remove_webhooks(const std::string& configuration) {
  for (const char* kind : {"mutatingwebhookconfigurations", "validatingwebhookconfigurations"})
    SLACKLINE_TRY(remove(cluster_object_path(kAdmissionGroup, kind, configuration)));
  return {};
}

Status Removal::remove_api_service() {
  return remove(
      cluster_object_path("/apis/apiregistration.k8s.io/v1", "apiservices", kVisibilityService));
}

Status Removal::take_lease(const ObjectKey& lease, const Clock& clock) {
  LeaseClient client(api_, lease, clock);
  for (int attempt = 1;; ++attempt) {
    auto record = client.read();
    if (!record && !gone(record.error()))
      return fail(record.error().with_context("reading the Lease " + lease.str()));
    wire::LeaseRecord ours = record ? *std::move(record) : wire::LeaseRecord();
    ours.holder = kHolder;
    ours.duration_s = kHeld_s;
    ours.transitions += 1;
    const auto written = client.write(std::move(ours));
    if (written) return {};
    if (written.error().code != ErrorCode::kConflict || attempt == kAttempts)
      return fail(written.error().with_context("taking the Lease " + lease.str()));
  }
}

Status Removal::scale_to_zero(const ObjectKey& stateful_set) {
  SLACKLINE_ASSIGN(const std::string path,
                   object_path("/apis/apps/v1", "statefulsets", stateful_set));
  const Status sent = client_.put("PATCH", path + "/scale", R"({"spec":{"replicas":0}})",
                                  "application/merge-patch+json");
  return sent || gone(sent.error()) ? Status() : sent;
}

Result<DaemonsLeft> Removal::daemons_left(const std::string& ns) {
  SLACKLINE_ASSIGN(const std::string path, collection_path(kCoreGroup, "pods", ns));
  SLACKLINE_ASSIGN(const std::string answer,
                   client_.get(path + "?labelSelector=app.kubernetes.io%2Fname%3Dslackline%2C"
                                      "app.kubernetes.io%2Fcomponent%3Ddaemon"));
  wire::JsonDocument document;
  SLACKLINE_ASSIGN(const wire::JsonView root, document.parse(answer));
  DaemonsLeft left;
  for (const wire::JsonView pod : root["items"].items())
    ++(pod["metadata"]["deletionTimestamp"].text().empty() ? left.running : left.ending);
  return left;
}

Status Removal::remove_pod(const Pod& pod) {
  wire::JsonWriter options;
  options.begin_object().field("apiVersion", "v1").field("kind", "DeleteOptions");
  options.key("preconditions").begin_object().field("uid", pod.uid.str()).end_object();
  options.end_object();
  const Status sent = remove(object_path(kCoreGroup, "pods", pod.key), options.take());
  // Another one has its name by now.
  return sent || sent.error().code == ErrorCode::kConflict ? Status() : sent;
}

Status Removal::remove_lease(const ObjectKey& lease) {
  return remove(object_path(kLeaseGroup, "leases", lease));
}

Status Removal::remove_secret(const ObjectKey& secret) {
  return remove(object_path(kCoreGroup, "secrets", secret));
}

Status Removal::remove_config_map(const ObjectKey& config_map) {
  return remove(object_path(kCoreGroup, "configmaps", config_map));
}

}  // namespace slackline::cluster

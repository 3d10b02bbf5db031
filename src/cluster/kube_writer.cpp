#include "cluster/kube_writer.h"

#include <utility>

#include "cluster/api_client.h"
#include "slackline/base/text.h"
#include "wire/binding_codec.h"
#include "wire/event_codec.h"
#include "wire/own_write_codec.h"

namespace slackline::cluster {
namespace {

// Of what a write has made, only the version is read: nothing else is encoded and sent.
constexpr std::string_view kMetadataOnly =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

std::string pod_path(const ObjectKey& pod) {
  return format("/api/v1/namespaces/{}/pods/{}", path_segment(pod.ns), path_segment(pod.name));
}

std::string job_path(const ObjectKey& job) {
  return format("/apis/batch/v1/namespaces/{}/jobs/{}", path_segment(job.ns),
                path_segment(job.name));
}

// A JSON patch whose test fails is "invalid" to the API server; to us it is a precondition.
Error meaning_of(const OwnWrite& write, const ApiFailure& failure) {
  constexpr int kUnprocessable = 422;
  Error error = failure.error();
  if (write.kind == OwnWriteKind::kLiftGate && failure.status == kUnprocessable)
    error.code = ErrorCode::kConflict;
  return error.with_context(format("{} {}", to_string(write.kind), write.key.str()));
}

class KubeWriter final : public ClusterWriter {
 public:
  explicit KubeWriter(KubeEndpoint endpoint) : client_(std::move(endpoint), system_clock()) {}

  Status bind(const BindingOrder& order) override {
    net::HttpRequest request;
    request.method = "POST";
    request.url = pod_path(order.pod) + "/binding";
    request.headers = {{"Content-Type", "application/json"}};
    request.body = wire::encode_binding(order.pod, order.uid, order.node, order.annotations);
    request.timeout_s = kWriteTimeout_s;
    if (const auto answer = client_.send(std::move(request)); !answer)
      return fail(answer.error().error().with_context(format("binding {}", order.pod.str())));
    return {};
  }

  Result<std::string> write(const OwnWrite& write) override {
    auto version = patch(write);
    if (version || version.error().code != ErrorCode::kInvalidArgument) return version;
    // API servers before 1.36 do not let the template of a Job that ran have its first shape back.
    const bool shaped = write.reshape || write.affinity_terms;
    if (write.kind != OwnWriteKind::kOpenJob || !shaped) return version;
    OwnWrite plain = write;
    plain.reshape.reset();
    plain.affinity_terms.reset();
    plain.original = nullptr;
    return patch(plain);
  }

  Status post(const TaskEvent& event) override {
    const wire::EventDto dto{event.kind,   event.object,  event.uid,
                             event.reason, event.message, event.warning,
                             event.count,  event.first_s, event.last_s};
    // It may be there though we never posted it: the last leader did. It may be gone though we did:
    // API servers keep Events for an hour.
    Status sent = event.count > 1 ? update_event(dto) : create_event(dto);
    if (!sent && sent.error().code == ErrorCode::kConflict) sent = update_event(dto);
    if (!sent && sent.error().code == ErrorCode::kNotFound) sent = create_event(dto);
    if (!sent) return fail(sent.error().with_context(format("event on {}", event.object.str())));
    return {};
  }

  Result<PodTruth> read_pod(const ObjectKey& pod) override {
    net::HttpRequest request;
    request.url = pod_path(pod);
    request.timeout_s = kReadBackTimeout_s;
    const auto answer = client_.send(std::move(request));
    if (!answer) return fail(answer.error().error().with_context(format("reading {}", pod.str())));
    SLACKLINE_ASSIGN(const wire::PodTruthDto found, wire::decode_pod_truth(answer->body));
    return PodTruth{.uid = found.uid, .node = found.node, .deleting = found.deleting};
  }

 private:
  Result<std::string> patch(const OwnWrite& write) {
    const wire::PatchBody encoded = wire::encode_own_write(write);
    net::HttpRequest request;
    request.method = "PATCH";
    request.url = writes_job(write.kind) ? job_path(write.key) : pod_path(write.key);
    if (!encoded.subresource.empty()) request.url += format("/{}", encoded.subresource);
    request.headers = {{"Content-Type", std::string(encoded.content_type)},
                       {"Accept", std::string(kMetadataOnly)}};
    request.body = encoded.body;
    request.timeout_s = kOwnWriteTimeout_s;
    const auto answer = client_.send(std::move(request));
    if (!answer) return fail(meaning_of(write, answer.error()));
    return wire::decode_written_version(answer->body);
  }

  Status create_event(const wire::EventDto& event) {
    net::HttpRequest request;
    request.method = "POST";
    request.url = format("/api/v1/namespaces/{}/events", path_segment(event.object.ns));
    request.headers = {{"Content-Type", "application/json"}};
    request.body = wire::encode_event(event);
    return send(std::move(request));
  }

  Status update_event(const wire::EventDto& event) {
    net::HttpRequest request;
    request.method = "PATCH";
    request.url = format("/api/v1/namespaces/{}/events/{}", path_segment(event.object.ns),
                         path_segment(wire::event_name(event)));
    request.headers = {{"Content-Type", "application/merge-patch+json"}};
    request.body = wire::encode_event_update(event);
    return send(std::move(request));
  }

  Status send(net::HttpRequest request) {
    request.timeout_s = kOwnWriteTimeout_s;
    if (const auto answer = client_.send(std::move(request)); !answer)
      return fail(answer.error().error());
    return {};
  }

  ApiClient client_;
};

}  // namespace

Result<std::unique_ptr<ClusterWriter>> make_kube_writer(const KubeAccess& access) {
  SLACKLINE_ASSIGN(KubeEndpoint endpoint, find_endpoint(access));
  return std::make_unique<KubeWriter>(std::move(endpoint));
}

}  // namespace slackline::cluster

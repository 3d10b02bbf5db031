#include "cluster/api/kube_writer.h"

#include <memory>
#include <utility>

#include "cluster/api/api_client.h"
#include "cluster/api/object_path.h"
#include "slackline/base/dns_name.h"
#include "slackline/base/text.h"
#include "wire/kube/binding_codec.h"
#include "wire/kube/calibration_codec.h"
#include "wire/kube/event_codec.h"
#include "wire/kube/kube_decode.h"
#include "wire/kube/own_write_codec.h"
#include "wire/kube/progress_note.h"

namespace slackline::cluster {
namespace {

// Of what a write has made, only the version is read: nothing else is encoded and sent.
constexpr std::string_view kMetadataOnly =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

Result<std::string> pod_path(const ObjectKey& pod) {
  return object_path(kCoreGroup, "pods", pod);
}

Result<std::string> job_path(const ObjectKey& job) {
  return object_path("/apis/batch/v1", "jobs", job);
}

// A JSON patch whose test fails is "invalid" to the API server; to us it is a precondition.
constexpr int kUnprocessable = 422;

Error meaning_of(const OwnWrite& write, const ApiFailure& failure) {
  Error error = failure.error();
  if (write.is<LiftGate>() && failure.status == kUnprocessable) error.code = ErrorCode::kConflict;
  return error.with_context(format("{} {}", write.word(), write.target.key.str()));
}

class KubeWriter final : public ClusterWriter {
 public:
  KubeWriter(ApiClient& client, GpuCatalog catalog, const MessageAuthenticator* mac)
      : client_(client), catalog_(std::move(catalog)), mac_(mac) {}

  Status bind(const BindingOrder& order, double timeout_s) override {
    net::HttpRequest request;
    request.method = "POST";
    SLACKLINE_ASSIGN(const std::string pod, pod_path(order.pod));
    if (!is_dns_subdomain(order.node.str()))
      return fail(ErrorCode::kInvalidArgument, "the node's name is not a DNS subdomain");
    request.url = pod + "/binding";
    request.headers = {{"Content-Type", "application/json"}};
    request.body = wire::encode_binding(order.pod, order.uid, order.node, order.annotations);
    request.timeout_s = timeout_s;
    const auto answer = client_.send(std::move(request));
    if (!answer)
      return fail(answer.error().error().with_context(format("binding {}", order.pod.str())));
    // A proxy, or what else answers there, may say 200 to anything.
    if (!wire::says_success(answer->body))
      return fail(ErrorCode::kTimeout,
                  format("binding {}: HTTP {} without kind Status and status Success: it may have "
                         "happened",
                         order.pod.str(), answer->status));
    return {};
  }

  Result<std::string> write(const OwnWrite& write) override {
    if (write.plan() != nullptr && mac_ != nullptr && !mac_->ready())
      return fail(ErrorCode::kInvalidArgument, "there is no key yet to sign a plan");
    if (const auto* suspend = write.as<SuspendJob>(); suspend && all_bound(suspend->unless_bound))
      return fail(ErrorCode::kConflict, format("{} {}: all of its pods are on nodes by now",
                                               write.word(), write.target.key.str()));
    auto version = patch(write);
    if (version || version.error().code != ErrorCode::kInvalidArgument) return version;
    // API servers before 1.36 do not let the template of a Job that ran have its first shape back.
    const auto* open = write.as<OpenJob>();
    if (open == nullptr || !(open->shape.reshape || open->shape.affinity_terms)) return version;
    OwnWrite plain = write;
    plain.change = JobChange{OpenJob{}};
    return patch(plain);
  }

  Status calibrate(const CalibrationOrder& order) override {
    const ObjectKey& from = order.from->key;
    const auto context = [&](const Error& error) {
      return fail(error.with_context(format("calibration run of {}", from.str())));
    };
    net::HttpRequest request;
    SLACKLINE_ASSIGN(request.url, job_path(from));
    request.timeout_s = kOwnWriteTimeout_s;
    const auto job = client_.send(std::move(request));
    if (!job) return context(job.error().error());
    auto run = wire::encode_calibration_job(job->body, order);
    if (!run) return context(run.error());
    net::HttpRequest creation;
    creation.method = "POST";
    SLACKLINE_ASSIGN(creation.url, collection_path("/apis/batch/v1", "jobs", from.ns));
    creation.headers = {{"Content-Type", "application/json"},
                        {"Accept", std::string(kMetadataOnly)}};
    creation.body = *std::move(run);
    const Status sent = send(std::move(creation));
    // After a lost answer it is there: its name says what it measures.
    if (sent || sent.error().code == ErrorCode::kConflict) return {};
    return context(sent.error());
  }

  Status note_progress(const ObjectKey& job, const Uid& uid,
                       const ProgressNote& progress) override {
    net::HttpRequest request;
    request.method = "PATCH";
    SLACKLINE_ASSIGN(request.url, job_path(job));
    request.headers = {{"Content-Type", "application/merge-patch+json"},
                       {"Accept", std::string(kMetadataOnly)}};
    request.body = wire::encode_progress_patch(uid, progress);
    const Status sent = send(std::move(request));
    return sent ? sent : fail(sent.error().with_context(format("progress of {}", job.str())));
  }

  Status note_forecast(const TaskEvent& event) override {
    net::HttpRequest request;
    request.method = "PATCH";
    SLACKLINE_ASSIGN(request.url, job_path(event.object));
    request.url += "?fieldManager=slackline-forecast";  // of its own: no write of a plan
    request.headers = {{"Content-Type", "application/json-patch+json"},
                       {"Accept", std::string(kMetadataOnly)}};
    request.body = wire::encode_forecast_patch(event);
    request.timeout_s = kOwnWriteTimeout_s;
    const auto answer = client_.send(std::move(request));
    if (answer) return {};
    Error error = answer.error().error();
    if (answer.error().status == kUnprocessable) error.code = ErrorCode::kConflict;
    return fail(error.with_context(format("forecast of {}", event.object.str())));
  }

  Status post(const TaskEvent& event) override {
    // It may be there though we never posted it: the last leader did. It may be gone though we did:
    // API servers keep Events for an hour.
    Status sent = event.count > 1 ? update_event(event) : create_event(event);
    if (!sent && sent.error().code == ErrorCode::kConflict) sent = update_event(event);
    if (!sent && sent.error().code == ErrorCode::kNotFound) sent = create_event(event);
    if (!sent) return fail(sent.error().with_context(format("event on {}", event.object.str())));
    return {};
  }

  Result<PodBinding> read_pod(const ObjectKey& pod, double timeout_s) override {
    net::HttpRequest request;
    SLACKLINE_ASSIGN(request.url, pod_path(pod));
    request.timeout_s = timeout_s;
    const auto answer = client_.send(std::move(request));
    if (!answer) return fail(answer.error().error().with_context(format("reading {}", pod.str())));
    SLACKLINE_ASSIGN(PodBinding truth, wire::decode_pod_binding(answer->body));
    if (auto whole = wire::KubeDecoder(catalog_).whole_pod(answer->body))
      truth.pod = std::make_shared<const Pod>(*std::move(whole));
    return truth;
  }

 private:
  // The answer names no version.
  static Result<std::string> what_was_evicted(const OwnWrite& write,
                                              const net::HttpResponse& answer) {
    if (wire::says_success(answer.body)) return std::string();
    return fail(ErrorCode::kTimeout,
                format("evicting {}: HTTP {} without kind Status and status Success: it may have "
                       "happened",
                       write.target.key.str(), answer.status));
  }

  // kube-scheduler may have bound them a moment ago.
  bool all_bound(const std::vector<ObjectKey>& pods) {
    for (const ObjectKey& pod : pods) {
      const auto truth = read_pod(pod, kOwnWriteTimeout_s);
      if (!truth || truth->node.empty()) return false;
    }
    return !pods.empty();
  }

  Result<std::string> patch(const OwnWrite& write) {
    const wire::PatchBody encoded = wire::encode_own_write(write, mac_);
    net::HttpRequest request;
    request.method = std::string(encoded.method);
    SLACKLINE_ASSIGN(request.url,
                     write.of_job() ? job_path(write.target.key) : pod_path(write.target.key));
    if (!encoded.subresource.empty()) request.url += format("/{}", encoded.subresource);
    const bool evicts = write.is<EvictPod>();
    request.headers = {{"Content-Type", std::string(encoded.content_type)},
                       {"Accept", evicts ? "application/json" : std::string(kMetadataOnly)}};
    request.body = encoded.body;
    request.timeout_s = kOwnWriteTimeout_s;
    const auto answer = client_.send(std::move(request));
    if (!answer) return fail(meaning_of(write, answer.error()));
    if (evicts) return what_was_evicted(write, *answer);
    if (write.is<RemoveCalibration>()) return std::string();  // its answer names no version
    return wire::decode_written_version(answer->body);
  }

  Status create_event(const TaskEvent& event) {
    net::HttpRequest request;
    request.method = "POST";
    SLACKLINE_ASSIGN(request.url,
                     collection_path(kCoreGroup, "events", wire::event_namespace(event)));
    request.headers = {{"Content-Type", "application/json"}};
    request.body = wire::encode_event(event);
    return send(std::move(request));
  }

  Status update_event(const TaskEvent& event) {
    net::HttpRequest request;
    request.method = "PATCH";
    SLACKLINE_ASSIGN(
        request.url,
        object_path(kCoreGroup, "events", {wire::event_namespace(event), wire::event_name(event)}));
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

  ApiClient& client_;
  const GpuCatalog catalog_;
  const MessageAuthenticator* const mac_;
};

}  // namespace

std::unique_ptr<ClusterWriter> make_kube_writer(ApiClient& client, GpuCatalog catalog,
                                                const MessageAuthenticator* mac) {
  return std::make_unique<KubeWriter>(client, std::move(catalog), mac);
}

}  // namespace slackline::cluster

#include "cluster/certificate_store.h"

#include <utility>

#include "cluster/api_client.h"
#include "cluster/object_path.h"
#include "slackline/base/text.h"
#include "wire/certificate_codec.h"

namespace slackline::cluster {
namespace {

constexpr std::string_view kCore = "/api/v1";
constexpr double kTimeout_s = 2;  // the daemon does not open its doors before the first look

class KubeCertificateStore final : public CertificateStore {
 public:
  KubeCertificateStore(KubeEndpoint endpoint, CertificateStoreOptions options)
      : client_(std::move(endpoint), system_clock()), options_(std::move(options)) {}

  Result<std::optional<StoredCertificates>> read() override {
    SLACKLINE_ASSIGN(const std::string path, secret_path());
    const auto answer = send("GET", path, {}, "");
    if (!answer && answer.error().code == ErrorCode::kNotFound)
      return std::optional<StoredCertificates>();
    if (!answer) return fail(answer.error());
    auto secret = wire::decode_certificate_secret(*answer);
    if (!secret) return fail(secret.error().with_context(path));
    return std::optional(StoredCertificates{
        {std::move(secret->authorities), std::move(secret->certificate), std::move(secret->key)},
        std::move(secret->resource_version)});
  }

  Status create(const CertificateSet& set) override {
    SLACKLINE_ASSIGN(const std::string path,
                     collection_path(kCore, "secrets", options_.secret.ns));
    return write("POST", path, set, "");
  }

  Status replace(const CertificateSet& set, const std::string& resource_version) override {
    SLACKLINE_ASSIGN(const std::string path, secret_path());
    return write("PUT", path, set, resource_version);
  }

  Status publish(const std::string& authorities) override {
    if (!options_.configuration.empty()) SLACKLINE_TRY(publish_to_api_server(authorities));
    if (!options_.config_map.name.empty()) SLACKLINE_TRY(publish_to_scheduler(authorities));
    return {};
  }

 private:
  Status publish_to_api_server(const std::string& authorities) {
    for (const std::string_view kind :
         {"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}) {
      SLACKLINE_ASSIGN(const std::string path,
                       cluster_object_path("/apis/admissionregistration.k8s.io/v1", kind,
                                           options_.configuration));
      SLACKLINE_ASSIGN(const std::string configuration, send("GET", path, {}, ""));
      SLACKLINE_ASSIGN(std::string patch, wire::encode_ca_bundle_patch(configuration, authorities));
      if (patch.empty()) continue;
      if (auto sent = send("PATCH", path, std::move(patch), "application/json-patch+json"); !sent)
        return fail(sent.error());
    }
    return {};
  }

  Status publish_to_scheduler(const std::string& authorities) {
    SLACKLINE_ASSIGN(const std::string path,
                     object_path(kCore, "configmaps", options_.config_map));
    SLACKLINE_ASSIGN(const std::string config_map, send("GET", path, {}, ""));
    SLACKLINE_ASSIGN(std::string patch, wire::encode_trust_patch(config_map, authorities));
    if (patch.empty()) return {};
    auto sent = send("PATCH", path, std::move(patch), "application/merge-patch+json");
    return sent ? Status() : Status(fail(sent.error()));
  }

  Result<std::string> secret_path() const {
    return object_path(kCore, "secrets", options_.secret);
  }

  Status write(const std::string& method, const std::string& path, const CertificateSet& set,
               const std::string& resource_version) {
    const wire::CertificateSecretDto secret{resource_version, set.authorities, set.certificate,
                                            set.key};
    auto sent = send(method, path, wire::encode_certificate_secret(options_.secret, secret),
                     "application/json");
    return sent ? Status() : Status(fail(sent.error()));
  }

  Result<std::string> send(const std::string& method, const std::string& path, std::string body,
                           const std::string& content_type) {
    net::HttpRequest request;
    request.method = method;
    request.url = path;
    request.timeout_s = kTimeout_s;
    request.body = std::move(body);
    if (!content_type.empty()) request.headers = {{"Content-Type", content_type}};
    auto answer = client_.send(std::move(request));
    if (!answer) return fail(answer.error().error().with_context(format("{} {}", method, path)));
    return std::move(answer->body);
  }

  ApiClient client_;
  const CertificateStoreOptions options_;
};

}  // namespace

Result<std::unique_ptr<CertificateStore>> make_certificate_store(const KubeAccess& access,
                                                                 CertificateStoreOptions options) {
  SLACKLINE_ASSIGN(KubeEndpoint endpoint, find_endpoint(access));
  return std::make_unique<KubeCertificateStore>(std::move(endpoint), std::move(options));
}

}  // namespace slackline::cluster

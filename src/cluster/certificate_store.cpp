#include "cluster/certificate_store.h"

#include <utility>

#include "cluster/api_client.h"
#include "slackline/base/text.h"
#include "wire/certificate_codec.h"

namespace slackline::cluster {
namespace {

constexpr double kTimeout_s = 2;  // the daemon does not open its doors before the first look

class KubeCertificateStore final : public CertificateStore {
 public:
  KubeCertificateStore(KubeEndpoint endpoint, CertificateStoreOptions options)
      : client_(std::move(endpoint), system_clock()), options_(std::move(options)) {}

  Result<std::optional<StoredCertificates>> read() override {
    const auto answer = send("GET", secret_path(), {}, "");
    if (!answer && answer.error().code == ErrorCode::kNotFound)
      return std::optional<StoredCertificates>();
    if (!answer) return fail(answer.error());
    auto secret = wire::decode_certificate_secret(*answer);
    if (!secret) return fail(secret.error().with_context(secret_path()));
    return std::optional(StoredCertificates{
        {std::move(secret->authorities), std::move(secret->certificate), std::move(secret->key)},
        std::move(secret->resource_version)});
  }

  Status create(const CertificateSet& set) override {
    return write("POST", format("/api/v1/namespaces/{}/secrets", path_segment(options_.secret.ns)),
                 set, "");
  }

  Status replace(const CertificateSet& set, const std::string& resource_version) override {
    return write("PUT", secret_path(), set, resource_version);
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
      const std::string path = format("/apis/admissionregistration.k8s.io/v1/{}/{}", kind,
                                      path_segment(options_.configuration));
      SLACKLINE_ASSIGN(const std::string configuration, send("GET", path, {}, ""));
      SLACKLINE_ASSIGN(std::string patch, wire::encode_ca_bundle_patch(configuration, authorities));
      if (patch.empty()) continue;
      if (auto sent = send("PATCH", path, std::move(patch), "application/json-patch+json"); !sent)
        return fail(sent.error());
    }
    return {};
  }

  Status publish_to_scheduler(const std::string& authorities) {
    const std::string path =
        format("/api/v1/namespaces/{}/configmaps/{}", path_segment(options_.config_map.ns),
               path_segment(options_.config_map.name));
    SLACKLINE_ASSIGN(const std::string config_map, send("GET", path, {}, ""));
    SLACKLINE_ASSIGN(std::string patch, wire::encode_trust_patch(config_map, authorities));
    if (patch.empty()) return {};
    auto sent = send("PATCH", path, std::move(patch), "application/merge-patch+json");
    return sent ? Status() : Status(fail(sent.error()));
  }

  std::string secret_path() const {
    return format("/api/v1/namespaces/{}/secrets/{}", path_segment(options_.secret.ns),
                  path_segment(options_.secret.name));
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

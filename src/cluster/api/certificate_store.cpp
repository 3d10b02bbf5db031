#include "cluster/api/certificate_store.h"

#include <utility>

#include "cluster/api/object_client.h"
#include "cluster/api/object_path.h"
#include "cluster/api/own_secret.h"
#include "wire/aggregation/front_proxy_codec.h"
#include "wire/kube/certificate_codec.h"

namespace slackline::cluster {
namespace {

class KubeCertificateStore final : public CertificateStore {
 public:
  KubeCertificateStore(ApiClient& client, CertificateStoreOptions options)
      : client_(client), secret_(client, options.secret), options_(std::move(options)) {}

  Result<StoredCertificates> read() override {
    SLACKLINE_ASSIGN(const std::string answer, secret_.read());
    auto secret = wire::decode_certificate_secret(answer);
    if (!secret) return fail(secret.error().with_context("Secret " + options_.secret.str()));
    return StoredCertificates{
        {std::move(secret->authorities), std::move(secret->certificate), std::move(secret->key)},
        std::move(secret->resource_version)};
  }

  Status replace(const CertificateSet& set, const std::string& resource_version) override {
    return secret_.patch(wire::encode_certificate_patch(
        {resource_version, set.authorities, set.certificate, set.key}));
  }

  Status publish(const std::string& authorities) override {
    SLACKLINE_TRY(tell_people(authorities));
    // Neither waits for the other to be there.
    Status aggregator = tell_aggregator(authorities);
    SLACKLINE_TRY(tell_webhooks(authorities));
    return aggregator;
  }

 private:
  Status tell_webhooks(const std::string& authorities) {
    if (options_.configuration.empty()) return {};
    for (const std::string_view kind :
         {"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}) {
      SLACKLINE_ASSIGN(const std::string path,
                       cluster_object_path("/apis/admissionregistration.k8s.io/v1", kind,
                                           options_.configuration));
      SLACKLINE_ASSIGN(const std::string configuration, client_.get(path));
      SLACKLINE_ASSIGN(std::string patch, wire::encode_ca_bundle_patch(configuration, authorities));
      if (patch.empty()) continue;
      SLACKLINE_TRY(client_.put("PATCH", path, std::move(patch), "application/json-patch+json"));
    }
    return {};
  }

  Status tell_aggregator(const std::string& authorities) {
    if (options_.api_service.empty()) return {};
    SLACKLINE_ASSIGN(const std::string path,
                     cluster_object_path("/apis/apiregistration.k8s.io/v1", "apiservices",
                                         options_.api_service));
    SLACKLINE_ASSIGN(const std::string service, client_.get(path));
    SLACKLINE_ASSIGN(std::string patch, wire::encode_api_service_patch(service, authorities));
    if (patch.empty()) return {};
    return client_.put("PATCH", path, std::move(patch), "application/merge-patch+json");
  }

  Status tell_people(const std::string& authorities) {
    if (!options_.trust) return {};
    SLACKLINE_ASSIGN(const std::string path,
                     object_path(kCoreGroup, "configmaps", *options_.trust));
    SLACKLINE_ASSIGN(const std::string config_map, client_.get(path));
    SLACKLINE_ASSIGN(std::string patch, wire::encode_trust_patch(config_map, authorities));
    if (patch.empty()) return {};
    return client_.put("PATCH", path, std::move(patch), "application/merge-patch+json");
  }

  ObjectClient client_;
  OwnSecret secret_;
  const CertificateStoreOptions options_;
};

}  // namespace

std::unique_ptr<CertificateStore> make_certificate_store(ApiClient& client,
                                                         CertificateStoreOptions options) {
  return std::make_unique<KubeCertificateStore>(client, std::move(options));
}

}  // namespace slackline::cluster

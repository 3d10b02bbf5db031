#include "cluster/api/certificate_store.h"

#include <utility>

#include "cluster/api/object_client.h"
#include "cluster/api/object_path.h"
#include "wire/kube/certificate_codec.h"

namespace slackline::cluster {
namespace {

class KubeCertificateStore final : public CertificateStore {
 public:
  KubeCertificateStore(ApiClient& client, CertificateStoreOptions options)
      : client_(client), options_(std::move(options)) {}

  Result<std::optional<StoredCertificates>> read() override {
    SLACKLINE_ASSIGN(const std::string path, secret_path());
    SLACKLINE_ASSIGN(const auto answer, client_.find(path));
    if (!answer) return std::optional<StoredCertificates>();
    auto secret = wire::decode_certificate_secret(*answer);
    if (!secret) return fail(secret.error().with_context(path));
    return std::optional(StoredCertificates{
        {std::move(secret->authorities), std::move(secret->certificate), std::move(secret->key)},
        std::move(secret->resource_version)});
  }

  Status create(const CertificateSet& set) override {
    SLACKLINE_ASSIGN(const std::string path,
                     collection_path(kCoreGroup, "secrets", options_.secret.ns));
    return write("POST", path, set, "");
  }

  Status replace(const CertificateSet& set, const std::string& resource_version) override {
    SLACKLINE_ASSIGN(const std::string path, secret_path());
    return write("PUT", path, set, resource_version);
  }

  Status publish(const std::string& authorities) override {
    SLACKLINE_TRY(tell_people(authorities));
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

 private:
  Result<std::string> secret_path() const {
    return object_path(kCoreGroup, "secrets", options_.secret);
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

  Status write(const std::string& method, const std::string& path, const CertificateSet& set,
               const std::string& resource_version) {
    const wire::CertificateSecretDto secret{resource_version, set.authorities, set.certificate,
                                            set.key};
    return client_.put(method, path, wire::encode_certificate_secret(options_.secret, secret),
                       "application/json");
  }

  ObjectClient client_;
  const CertificateStoreOptions options_;
};

}  // namespace

std::unique_ptr<CertificateStore> make_certificate_store(ApiClient& client,
                                                         CertificateStoreOptions options) {
  return std::make_unique<KubeCertificateStore>(client, std::move(options));
}

}  // namespace slackline::cluster

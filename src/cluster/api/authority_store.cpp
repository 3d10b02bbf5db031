#include "cluster/api/authority_store.h"

#include <string_view>
#include <utility>

#include "cluster/api/object_client.h"
#include "cluster/api/object_path.h"
#include "wire/kube/certificate_codec.h"

namespace slackline::cluster {
namespace {

constexpr const char* kMergePatch = "application/merge-patch+json";

class KubeAuthorityStore final : public AuthorityStore {
 public:
  KubeAuthorityStore(ApiClient& client, AuthorityStoreOptions options)
      : client_(client), options_(std::move(options)) {}

  Result<std::optional<StoredAuthority>> read() override {
    SLACKLINE_ASSIGN(const std::string path, secret_path());
    SLACKLINE_ASSIGN(const auto answer, client_.find(path));
    if (!answer) return std::optional<StoredAuthority>();
    auto secret = wire::decode_mutual_secret(*answer);
    if (!secret) return fail(secret.error().with_context(path));
    return std::optional(
        StoredAuthority{std::move(secret->certificates), std::move(secret->resource_version)});
  }

  Status create(const MutualCertificates& certificates) override {
    SLACKLINE_ASSIGN(const std::string path,
                     collection_path(kCoreGroup, "secrets", options_.secret.ns));
    return client_.put("POST", path,
                       wire::encode_mutual_secret(options_.secret, {"", certificates}),
                       "application/json");
  }

  Status replace(const MutualCertificates& certificates,
                 const std::string& resource_version) override {
    SLACKLINE_ASSIGN(const std::string path, secret_path());
    return client_.put(
        "PUT", path, wire::encode_mutual_secret(options_.secret, {resource_version, certificates}),
        "application/json");
  }

  Status publish(const MutualCertificates& certificates) override {
    SLACKLINE_ASSIGN(const std::string trust,
                     object_path(kCoreGroup, "configmaps", options_.trust));
    SLACKLINE_ASSIGN(const std::string config_map, client_.get(trust));
    SLACKLINE_ASSIGN(std::string trusted,
                     wire::encode_trust_patch(config_map, certificates.authority.certificates));
    if (!trusted.empty())
      SLACKLINE_TRY(client_.put("PATCH", trust, std::move(trusted), kMergePatch));
    SLACKLINE_ASSIGN(const std::string client,
                     object_path(kCoreGroup, "secrets", options_.client_secret));
    SLACKLINE_ASSIGN(const std::string secret, client_.get(client));
    SLACKLINE_ASSIGN(std::string shown, wire::encode_client_patch(secret, certificates.client));
    if (shown.empty()) return {};
    return client_.put("PATCH", client, std::move(shown), kMergePatch);
  }

 private:
  Result<std::string> secret_path() const {
    return object_path(kCoreGroup, "secrets", options_.secret);
  }

  ObjectClient client_;
  const AuthorityStoreOptions options_;
};

}  // namespace

std::unique_ptr<AuthorityStore> make_authority_store(ApiClient& client,
                                                     AuthorityStoreOptions options) {
  return std::make_unique<KubeAuthorityStore>(client, std::move(options));
}

}  // namespace slackline::cluster

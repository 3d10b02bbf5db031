#include "cluster/api/authority_store.h"

#include <string_view>
#include <utility>

#include "cluster/api/object_client.h"
#include "cluster/api/object_path.h"
#include "cluster/api/own_secret.h"
#include "wire/kube/certificate_codec.h"

namespace slackline::cluster {
namespace {

constexpr const char* kMergePatch = "application/merge-patch+json";

class KubeAuthorityStore final : public AuthorityStore {
 public:
  KubeAuthorityStore(ApiClient& client, AuthorityStoreOptions options)
      : client_(client),
        secret_(client, options.secret),
        client_secret_(client, options.client_secret),
        options_(std::move(options)) {}

  Result<StoredAuthority> read() override {
    SLACKLINE_ASSIGN(const std::string answer, secret_.read());
    auto secret = wire::decode_mutual_secret(answer);
    if (!secret) return fail(secret.error().with_context("Secret " + options_.secret.str()));
    return StoredAuthority{std::move(secret->certificates), std::move(secret->resource_version)};
  }

  Status replace(const MutualCertificates& certificates,
                 const std::string& resource_version) override {
    return secret_.patch(wire::encode_mutual_patch({resource_version, certificates}));
  }

  Status publish(const MutualCertificates& certificates) override {
    SLACKLINE_ASSIGN(const std::string trust,
                     object_path(kCoreGroup, "configmaps", options_.trust));
    SLACKLINE_ASSIGN(const std::string config_map, client_.get(trust));
    SLACKLINE_ASSIGN(std::string trusted,
                     wire::encode_trust_patch(config_map, certificates.authority.certificates));
    if (!trusted.empty())
      SLACKLINE_TRY(client_.put("PATCH", trust, std::move(trusted), kMergePatch));
    SLACKLINE_ASSIGN(const std::string secret, client_secret_.read());
    SLACKLINE_ASSIGN(std::string shown, wire::encode_client_patch(secret, certificates.client));
    return shown.empty() ? Status() : client_secret_.patch(std::move(shown));
  }

 private:
  ObjectClient client_;
  OwnSecret secret_;
  OwnSecret client_secret_;
  const AuthorityStoreOptions options_;
};

}  // namespace

std::unique_ptr<AuthorityStore> make_authority_store(ApiClient& client,
                                                     AuthorityStoreOptions options) {
  return std::make_unique<KubeAuthorityStore>(client, std::move(options));
}

}  // namespace slackline::cluster

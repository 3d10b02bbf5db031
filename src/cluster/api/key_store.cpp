#include "cluster/api/key_store.h"

#include <utility>

#include "cluster/api/own_secret.h"
#include "wire/kube/key_codec.h"

namespace slackline::cluster {
namespace {

class KubeKeyStore final : public KeyStore {
 public:
  KubeKeyStore(ApiClient& client, const ObjectKey& secret)
      : secret_(client, secret), name_(secret.str()) {}

  Result<StoredKeys> read() override {
    SLACKLINE_ASSIGN(const std::string answer, secret_.read());
    auto secret = wire::decode_key_secret(answer);
    if (!secret) return fail(secret.error().with_context("Secret " + name_));
    return StoredKeys{std::move(secret->keys), std::move(secret->resource_version)};
  }

  Status replace(const StoredKeys& keys) override {
    return secret_.patch(wire::encode_key_patch({keys.resource_version, keys.keys}));
  }

 private:
  OwnSecret secret_;
  const std::string name_;
};

}  // namespace

std::unique_ptr<KeyStore> make_key_store(ApiClient& client, const ObjectKey& secret) {
  return std::make_unique<KubeKeyStore>(client, secret);
}

}  // namespace slackline::cluster

#include "cluster/api/key_store.h"

#include <utility>

#include "cluster/api/object_client.h"
#include "cluster/api/object_path.h"
#include "wire/kube/key_codec.h"

namespace slackline::cluster {
namespace {

class KubeKeyStore final : public KeyStore {
 public:
  KubeKeyStore(ApiClient& client, ObjectKey secret) : client_(client), secret_(std::move(secret)) {}

  Result<std::optional<StoredKeys>> read() override {
    SLACKLINE_ASSIGN(const std::string path, secret_path());
    SLACKLINE_ASSIGN(const auto answer, client_.find(path));
    if (!answer) return std::optional<StoredKeys>();
    auto secret = wire::decode_key_secret(*answer);
    if (!secret) return fail(secret.error().with_context(path));
    return std::optional(StoredKeys{std::move(secret->keys), std::move(secret->resource_version)});
  }

  Status create(const std::vector<SharedKey>& keys) override {
    SLACKLINE_ASSIGN(const std::string path, collection_path(kCoreGroup, "secrets", secret_.ns));
    return write("POST", path, {"", keys});
  }

  Status replace(const StoredKeys& keys) override {
    SLACKLINE_ASSIGN(const std::string path, secret_path());
    return write("PUT", path, {keys.resource_version, keys.keys});
  }

 private:
  Result<std::string> secret_path() const { return object_path(kCoreGroup, "secrets", secret_); }

  Status write(const std::string& method, const std::string& path,
               const wire::KeySecretDto& secret) {
    return client_.put(method, path, wire::encode_key_secret(secret_, secret), "application/json");
  }

  ObjectClient client_;
  const ObjectKey secret_;
};

}  // namespace

std::unique_ptr<KeyStore> make_key_store(ApiClient& client, ObjectKey secret) {
  return std::make_unique<KubeKeyStore>(client, std::move(secret));
}

}  // namespace slackline::cluster

#include "cluster/key_store.h"

#include <utility>

#include "cluster/api_client.h"
#include "cluster/object_path.h"
#include "slackline/base/text.h"
#include "wire/key_codec.h"

namespace slackline::cluster {
namespace {

constexpr double kTimeout_s = 2;  // the daemon does not open its doors before the first look

class KubeKeyStore final : public KeyStore {
 public:
  KubeKeyStore(KubeEndpoint endpoint, ObjectKey secret)
      : client_(std::move(endpoint), system_clock()), secret_(std::move(secret)) {}

  Result<std::optional<StoredKeys>> read() override {
    SLACKLINE_ASSIGN(const std::string path, secret_path());
    const auto answer = send("GET", path, "");
    if (!answer && answer.error().code == ErrorCode::kNotFound) return std::optional<StoredKeys>();
    if (!answer) return fail(answer.error());
    auto secret = wire::decode_key_secret(*answer);
    if (!secret) return fail(secret.error().with_context(path));
    return std::optional(StoredKeys{std::move(secret->keys), std::move(secret->resource_version)});
  }

  Status create(const std::vector<SharedKey>& keys) override {
    SLACKLINE_ASSIGN(const std::string path, collection_path("/api/v1", "secrets", secret_.ns));
    return write("POST", path, {"", keys});
  }

  Status replace(const StoredKeys& keys) override {
    SLACKLINE_ASSIGN(const std::string path, secret_path());
    return write("PUT", path, {keys.resource_version, keys.keys});
  }

 private:
  Result<std::string> secret_path() const { return object_path("/api/v1", "secrets", secret_); }

  Status write(const std::string& method, const std::string& path,
               const wire::KeySecretDto& secret) {
    auto sent = send(method, path, wire::encode_key_secret(secret_, secret));
    return sent ? Status() : Status(fail(sent.error()));
  }

  Result<std::string> send(const std::string& method, const std::string& path, std::string body) {
    net::HttpRequest request;
    request.method = method;
    request.url = path;
    request.timeout_s = kTimeout_s;
    if (!body.empty()) request.headers = {{"Content-Type", "application/json"}};
    request.body = std::move(body);
    auto answer = client_.send(std::move(request));
    if (!answer) return fail(answer.error().error().with_context(format("{} {}", method, path)));
    return std::move(answer->body);
  }

  ApiClient client_;
  const ObjectKey secret_;
};

}  // namespace

Result<std::unique_ptr<KeyStore>> make_key_store(const KubeAccess& access, ObjectKey secret) {
  SLACKLINE_ASSIGN(KubeEndpoint endpoint, find_endpoint(access));
  return std::make_unique<KubeKeyStore>(std::move(endpoint), std::move(secret));
}

}  // namespace slackline::cluster

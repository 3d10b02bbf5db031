#include "cluster/api/stop_store.h"

#include <utility>

#include "cluster/api/object_client.h"
#include "cluster/api/object_path.h"
#include "wire/kube/stop_book_codec.h"

namespace slackline::cluster {
namespace {

class KubeStopStore final : public StopStore {
 public:
  KubeStopStore(ApiClient& client, ObjectKey config_map)
      : client_(client), config_map_(std::move(config_map)) {}

  Result<std::optional<StoredStops>> read() override {
    SLACKLINE_ASSIGN(const std::string path, object_path(kCoreGroup, "configmaps", config_map_));
    SLACKLINE_ASSIGN(const auto answer, client_.find(path));
    if (!answer) return std::optional<StoredStops>();
    auto book = wire::decode_stop_book(*answer);
    if (!book) return fail(book.error().with_context(path));
    return std::optional(
        StoredStops{std::move(book->stops), std::move(book->resource_version), book->unreadable});
  }

  Result<std::string> write(const StoredStops& stops) override {
    const bool is_new = stops.resource_version.empty();
    SLACKLINE_ASSIGN(const std::string path,
                     is_new ? collection_path(kCoreGroup, "configmaps", config_map_.ns)
                            : object_path(kCoreGroup, "configmaps", config_map_));
    SLACKLINE_ASSIGN(
        const std::string answer,
        client_.send(is_new ? "POST" : "PUT", path,
                     wire::encode_stop_book(config_map_, {stops.resource_version, stops.stops, 0}),
                     "application/json"));
    auto book = wire::decode_stop_book(answer);
    if (!book) return fail(book.error().with_context(path));
    return std::move(book->resource_version);
  }

 private:
  ObjectClient client_;
  const ObjectKey config_map_;
};

}  // namespace

std::unique_ptr<StopStore> make_stop_store(ApiClient& client, ObjectKey config_map) {
  return std::make_unique<KubeStopStore>(client, std::move(config_map));
}

}  // namespace slackline::cluster

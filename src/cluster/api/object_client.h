// ObjectClient: single objects of the API server as text, for what is read and written seldom.
// Private to this layer.
//
// Thread-safe.
#pragma once

#include <optional>
#include <string>

#include "cluster/api/api_client.h"
#include "slackline/base/result.h"

namespace slackline::cluster {

class ObjectClient {
 public:
  explicit ObjectClient(ApiClient& client) : client_(client) {}  // outlives it

  // The answer's body; an error says method and path. `content_type` may be empty.
  Result<std::string> send(const std::string& method, const std::string& path, std::string body,
                           const std::string& content_type);
  Result<std::string> get(const std::string& path) { return send("GET", path, {}, {}); }
  // nullopt: there is no such object.
  Result<std::optional<std::string>> find(const std::string& path);
  Status put(const std::string& method, const std::string& path, std::string body,
             const std::string& content_type);

 private:
  ApiClient& client_;
};

}  // namespace slackline::cluster

#include "cluster/api/own_secret.h"

#include <utility>

#include "cluster/api/object_path.h"
#include "slackline/base/text.h"

namespace slackline::cluster {

OwnSecret::OwnSecret(ApiClient& client, ObjectKey name) : client_(client), name_(std::move(name)) {}

Result<std::string> OwnSecret::read() {
  SLACKLINE_ASSIGN(const std::string path, object_path(kCoreGroup, "secrets", name_));
  SLACKLINE_ASSIGN(auto answer, client_.find(path));
  if (answer) return *std::move(answer);
  return fail(
      ErrorCode::kNotFound,
      format("there is no Secret {}: it is installed empty and Slackline fills it; `kubectl "
             "apply -k` or `helm upgrade`, as it was installed, puts it back",
             name_.str()));
}

Status OwnSecret::patch(std::string body) {
  SLACKLINE_ASSIGN(const std::string path, object_path(kCoreGroup, "secrets", name_));
  return client_.put("PATCH", path, std::move(body), "application/merge-patch+json");
}

}  // namespace slackline::cluster

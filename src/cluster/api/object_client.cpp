#include "cluster/api/object_client.h"

#include <utility>

#include "slackline/base/text.h"

namespace slackline::cluster {
namespace {

constexpr double kTimeout_s = 2;  // the daemon does not open its doors before the first look

}  // namespace

Result<std::string> ObjectClient::send(const std::string& method, const std::string& path,
                                       std::string body, const std::string& content_type) {
  net::HttpRequest request;
  request.method = method;
  request.url = path;
  request.timeout_s = kTimeout_s;
  request.body = std::move(body);
  if (!content_type.empty()) request.headers = {{"Content-Type", content_type}};
  auto answer = client_.send(std::move(request));
  if (!answer) return fail(answer.error().error().with_context(format("{} {}", method, path)));
  return std::move(answer->body);
}

Result<std::optional<std::string>> ObjectClient::find(const std::string& path) {
  auto answer = get(path);
  if (answer) return std::optional(*std::move(answer));
  if (answer.error().code == ErrorCode::kNotFound) return std::optional<std::string>();
  return fail(answer.error());
}

Status ObjectClient::put(const std::string& method, const std::string& path, std::string body,
                         const std::string& content_type) {
  auto sent = send(method, path, std::move(body), content_type);
  return sent ? Status() : Status(fail(sent.error()));
}

}  // namespace slackline::cluster

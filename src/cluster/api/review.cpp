#include "cluster/api/review.h"

#include <utility>

namespace slackline::cluster {

Result<std::string> post_review(ApiClient& client, const std::string& path, std::string review,
                                double timeout_s) {
  net::HttpRequest request;
  request.method = "POST";
  request.url = path;
  request.headers = {{"Content-Type", "application/json"}};
  request.body = std::move(review);
  request.timeout_s = timeout_s;
  auto answer = client.send(std::move(request));
  if (!answer) return fail(answer.error().error().with_context(path));
  return std::move(answer->body);
}

Result<bool> review_access(ApiClient& client, const Requester& user,
                           const wire::AccessQuestion& question, double timeout_s) {
  SLACKLINE_ASSIGN(const std::string answer,
                   post_review(client, "/apis/authorization.k8s.io/v1/subjectaccessreviews",
                               wire::encode_access_review(user, question), timeout_s));
  return wire::decode_access_review(answer);
}

}  // namespace slackline::cluster

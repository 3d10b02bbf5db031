#include "cluster/access_reviewer.h"

#include <utility>

#include "cluster/api_client.h"
#include "slackline/base/text.h"
#include "wire/access_review_codec.h"

namespace slackline::cluster {
namespace {

class KubeAccessReviewer final : public AccessReviewer {
 public:
  explicit KubeAccessReviewer(KubeEndpoint endpoint)
      : client_(std::move(endpoint), system_clock()) {}

  Result<bool> may_use_class(const Requester& user, const std::string& ns,
                             const std::string& qos_class) override {
    net::HttpRequest request;
    request.method = "POST";
    request.url = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    request.headers = {{"Content-Type", "application/json"}};
    request.body = wire::encode_access_review(user, {.ns = ns,
                                                     .verb = "use",
                                                     .group = "slackline.dev",
                                                     .resource = "qosclasses",
                                                     .name = qos_class});
    request.timeout_s = kReviewTimeout_s;
    const auto answer = client_.send(std::move(request));
    if (!answer) return fail(answer.error().error().with_context("SubjectAccessReview"));
    return wire::decode_access_review(answer->body);
  }

 private:
  ApiClient client_;
};

}  // namespace

Result<std::unique_ptr<AccessReviewer>> make_access_reviewer(const KubeAccess& access) {
  SLACKLINE_ASSIGN(KubeEndpoint endpoint, find_endpoint(access));
  return std::make_unique<KubeAccessReviewer>(std::move(endpoint));
}

}  // namespace slackline::cluster

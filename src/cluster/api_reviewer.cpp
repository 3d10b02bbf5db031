#include "cluster/api_reviewer.h"

#include <utility>

#include "cluster/api_client.h"
#include "wire/access_review_codec.h"
#include "wire/token_review_codec.h"

namespace slackline::cluster {
namespace {

constexpr double kTimeout_s = 2;  // two threads serve REST: a slow API server must not hold them

class KubeApiReviewer final : public ApiReviewer {
 public:
  explicit KubeApiReviewer(KubeEndpoint endpoint) : client_(std::move(endpoint), system_clock()) {}

  Result<std::optional<Requester>> who_is(const std::string& token) override {
    SLACKLINE_ASSIGN(const std::string answer, review("/apis/authentication.k8s.io/v1/tokenreviews",
                                                      wire::encode_token_review(token)));
    return wire::decode_token_review(answer);
  }

  Result<bool> may(const Requester& user, const ApiDemand& demand) override {
    SLACKLINE_ASSIGN(const std::string answer,
                     review("/apis/authorization.k8s.io/v1/subjectaccessreviews",
                            wire::encode_access_review(user, {.ns = demand.ns,
                                                              .verb = demand.verb,
                                                              .group = "slackline.dev",
                                                              .resource = demand.resource,
                                                              .name = {}})));
    return wire::decode_access_review(answer);
  }

 private:
  Result<std::string> review(const std::string& path, std::string body) {
    net::HttpRequest request;
    request.method = "POST";
    request.url = path;
    request.headers = {{"Content-Type", "application/json"}};
    request.body = std::move(body);
    request.timeout_s = kTimeout_s;
    auto answer = client_.send(std::move(request));
    if (!answer) return fail(answer.error().error().with_context(path));
    return std::move(answer->body);
  }

  ApiClient client_;
};

}  // namespace

Result<std::unique_ptr<ApiReviewer>> make_api_reviewer(const KubeAccess& access) {
  SLACKLINE_ASSIGN(KubeEndpoint endpoint, find_endpoint(access));
  return std::make_unique<KubeApiReviewer>(std::move(endpoint));
}

}  // namespace slackline::cluster

#include "cluster/api/api_reviewer.h"

#include <utility>

#include "cluster/api/api_client.h"
#include "cluster/api/review.h"
#include "wire/kube/token_review_codec.h"

namespace slackline::cluster {
namespace {

constexpr double kTimeout_s = 2;  // two threads serve REST: a slow API server must not hold them

class KubeApiReviewer final : public ApiReviewer {
 public:
  explicit KubeApiReviewer(KubeEndpoint endpoint) : client_(std::move(endpoint), system_clock()) {}

  Result<std::optional<Requester>> who_is(const std::string& token) override {
    SLACKLINE_ASSIGN(const std::string answer,
                     post_review(client_, "/apis/authentication.k8s.io/v1/tokenreviews",
                                 wire::encode_token_review(token), kTimeout_s));
    return wire::decode_token_review(answer);
  }

  Result<bool> may(const Requester& user, const ApiDemand& demand) override {
    return review_access(client_, user,
                         {.ns = demand.ns,
                          .verb = demand.verb,
                          .group = "slackline.dev",
                          .resource = demand.resource,
                          .name = {}},
                         kTimeout_s);
  }

 private:
  ApiClient client_;
};

}  // namespace

Result<std::unique_ptr<ApiReviewer>> make_api_reviewer(const KubeAccess& access) {
  SLACKLINE_ASSIGN(KubeEndpoint endpoint, find_endpoint(access));
  return std::make_unique<KubeApiReviewer>(std::move(endpoint));
}

}  // namespace slackline::cluster

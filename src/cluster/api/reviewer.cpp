#include "cluster/api/reviewer.h"

#include <utility>

#include "cluster/api/api_client.h"
#include "wire/kube/access_review_codec.h"
#include "wire/kube/token_review_codec.h"

namespace slackline::cluster {
namespace {

class KubeReviewer final : public Reviewer {
 public:
  KubeReviewer(ApiClient& client, double timeout_s) : client_(client), timeout_s_(timeout_s) {}

  Result<std::optional<Requester>> who_is(const std::string& token) override {
    const std::string_view audience =
        wire::names_audience(token, kOwnAudience) ? kOwnAudience : std::string_view();
    SLACKLINE_ASSIGN(const std::string answer, post("/apis/authentication.k8s.io/v1/tokenreviews",
                                                    wire::encode_token_review(token, audience)));
    return wire::decode_token_review(answer, audience);
  }

  Result<bool> may(const Requester& user, const ApiDemand& demand) override {
    SLACKLINE_ASSIGN(const std::string answer,
                     post("/apis/authorization.k8s.io/v1/subjectaccessreviews",
                          wire::encode_access_review(user, demand)));
    return wire::decode_access_review(answer);
  }

 private:
  // A review is posted as an object and answered by the same call.
  Result<std::string> post(const std::string& path, std::string review) {
    net::HttpRequest request;
    request.method = "POST";
    request.url = path;
    request.headers = {{"Content-Type", "application/json"}};
    request.body = std::move(review);
    request.timeout_s = timeout_s_;
    auto answer = client_.send(std::move(request));
    if (!answer) return fail(answer.error().error().with_context(path));
    return std::move(answer->body);
  }

  ApiClient& client_;
  const double timeout_s_;
};

}  // namespace

std::unique_ptr<Reviewer> make_reviewer(ApiClient& client, double timeout_s) {
  return std::make_unique<KubeReviewer>(client, timeout_s);
}

}  // namespace slackline::cluster

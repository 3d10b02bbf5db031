#include "cluster/api/access_reviewer.h"

#include <utility>

#include "cluster/api/api_client.h"
#include "cluster/api/review.h"

namespace slackline::cluster {
namespace {

class KubeAccessReviewer final : public AccessReviewer {
 public:
  explicit KubeAccessReviewer(KubeEndpoint endpoint)
      : client_(std::move(endpoint), system_clock()) {}

  Result<bool> may_use_class(const Requester& user, const std::string& ns,
                             const std::string& qos_class) override {
    return review_access(client_, user,
                         {.ns = ns,
                          .verb = "use",
                          .group = "slackline.dev",
                          .resource = "qosclasses",
                          .name = qos_class},
                         kReviewTimeout_s);
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

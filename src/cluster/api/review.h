// Reviews: questions to the API server, posted as an object and answered by the same call.
#pragma once

#include <string>

#include "cluster/api/api_client.h"
#include "slackline/base/result.h"
#include "slackline/model/admission.h"
#include "wire/kube/access_review_codec.h"

namespace slackline::cluster {

// The answer to `review`, posted to `path`.
Result<std::string> post_review(ApiClient& client, const std::string& path, std::string review,
                                double timeout_s);

// A SubjectAccessReview: may `user` do that?
Result<bool> review_access(ApiClient& client, const Requester& user,
                           const wire::AccessQuestion& question, double timeout_s);

}  // namespace slackline::cluster

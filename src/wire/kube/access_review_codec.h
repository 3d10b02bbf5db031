// SubjectAccessReview of authorization.k8s.io/v1: the question and its answer.
#pragma once

#include <string>
#include <string_view>

#include "message/admission_review.h"
#include "message/api_demand.h"
#include "slackline/base/result.h"

namespace slackline::wire {

// Rights are those of the group slackline.dev.
std::string encode_access_review(const Requester& user, const ApiDemand& demand);

// status.allowed. kUnavailable: the API server could not evaluate it and says so.
Result<bool> decode_access_review(std::string_view json);

}  // namespace slackline::wire

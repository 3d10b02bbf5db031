// SubjectAccessReview of authorization.k8s.io/v1: the question and its answer.
#pragma once

#include <string>
#include <string_view>

#include "slackline/base/result.h"
#include "slackline/model/admission.h"

namespace slackline::wire {

struct AccessQuestion {
  std::string_view ns;
  std::string_view verb;
  std::string_view group;
  std::string_view resource;
  std::string_view name;
};

std::string encode_access_review(const Requester& user, const AccessQuestion& question);

// status.allowed. kUnavailable: the API server could not evaluate it and says so.
Result<bool> decode_access_review(std::string_view json);

}  // namespace slackline::wire

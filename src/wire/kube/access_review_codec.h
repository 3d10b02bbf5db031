// SubjectAccessReview of authorization.k8s.io/v1, and what one asks of oneself: the questions and
// their answers.
#pragma once

#include <string>
#include <string_view>

#include "message/admission_review.h"
#include "message/api_demand.h"
#include "slackline/base/result.h"

namespace slackline::wire {

// Rights are those of the group slackline.dev.
std::string encode_access_review(const Requester& user, const ApiDemand& demand);

// A right of our own account. Empty: the core group; no subresource; in all namespaces; any name.
struct OwnRight {
  std::string_view verb;
  std::string_view group{};
  std::string_view resource;
  std::string_view subresource{};
  std::string ns{};
  std::string name{};
};

// SelfSubjectAccessReview; decode_access_review reads the answer.
std::string encode_own_access_review(const OwnRight& right);

// status.allowed. kUnavailable: the API server could not evaluate it and says so.
Result<bool> decode_access_review(std::string_view json);

// SelfSubjectReview of authentication.k8s.io/v1. kUnavailable: the answer names no user.
std::string encode_self_subject_review();
Result<std::string> decode_self_subject_review(std::string_view json);

}  // namespace slackline::wire

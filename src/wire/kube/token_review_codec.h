// TokenReview of authentication.k8s.io/v1: whose token is this?
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "message/admission.h"
#include "slackline/base/result.h"

namespace slackline::wire {

std::string encode_token_review(std::string_view token);

// nullopt: the API server knows no user of this token. kUnavailable: it could not say.
Result<std::optional<Requester>> decode_token_review(std::string_view json);

}  // namespace slackline::wire

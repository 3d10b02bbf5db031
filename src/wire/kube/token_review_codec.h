// TokenReview of authentication.k8s.io/v1: whose token is this? And userInfo of that API: the user
// of admission and token reviews. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "message/admission_review.h"
#include "slackline/base/result.h"
#include "wire/format/json_view.h"

namespace slackline::wire {

// `audience`: for whom the token must be; empty: for the API server.
std::string encode_token_review(std::string_view token, std::string_view audience = {});

// nullopt: the API server knows no user of this token, or it is for another audience.
// kUnavailable: it could not say.
Result<std::optional<Requester>> decode_token_review(std::string_view json,
                                                     std::string_view audience = {});

// Whether a JSON Web Token says that it is for this audience. Nobody has checked its signature: it
// only tells which review to ask for.
bool names_audience(std::string_view token, std::string_view audience);

// At most 1024 groups, values and keys are read.
Requester read_requester(JsonView user_info);

}  // namespace slackline::wire

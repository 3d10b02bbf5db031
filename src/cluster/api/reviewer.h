// Reviewer: who is that, and may they? Asked of the API server by a TokenReview and a
// SubjectAccessReview, as it does itself for what it serves.
//
// Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "message/admission_review.h"
#include "message/api_demand.h"
#include "slackline/base/result.h"

namespace slackline::cluster {

class ApiClient;

// The audience of tokens that are good for Slackline and for nothing else.
inline constexpr std::string_view kOwnAudience = "slackline";

class Reviewer {
 public:
  virtual ~Reviewer() = default;
  // Of a token for the API server, or for kOwnAudience. nullopt: the token is nobody's.
  virtual Result<std::optional<Requester>> who_is(const std::string& token) = 0;
  virtual Result<bool> may(const Requester& user, const ApiDemand& demand) = 0;
};

// `client` outlives it; no question takes longer than `timeout_s`.
std::unique_ptr<Reviewer> make_reviewer(ApiClient& client, double timeout_s);

}  // namespace slackline::cluster

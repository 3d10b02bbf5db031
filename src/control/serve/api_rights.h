// ApiRights: whether a bearer token may ask REST for something, remembered for a few seconds.
//
// Who a token is, and what was granted, is believed for 10 s; what was refused for 2 s, because
// people try again right after they were given the right; a failure is not kept. Tokens are kept in
// memory only and never logged. Thread-safe; no lock is held while the API server is asked.
#pragma once

#include <optional>
#include <string>

#include "control/serve/recent.h"
#include "slackline/base/clock.h"
#include "slackline/base/result.h"
#include "slackline/model/admission.h"
#include "slackline/model/api_demand.h"

namespace slackline::cluster {
class ApiReviewer;
}

namespace slackline::control {

class ApiRights {
 public:
  enum class Verdict { kAllowed, kUnknownCaller, kForbidden, kCannotTell };
  struct Answer {
    Verdict verdict = Verdict::kCannotTell;
    std::string detail;  // whose token it is; where it cannot be told, why
  };

  // Both outlive it.
  ApiRights(cluster::ApiReviewer& reviewer, const Clock& clock)
      : reviewer_(reviewer), clock_(clock) {}

  Answer ask(const std::string& token, const ApiDemand& demand);

 private:
  Result<std::optional<Requester>> who_is(const std::string& token);
  Result<bool> may(const Requester& user, const std::string& token, const ApiDemand& demand);

  cluster::ApiReviewer& reviewer_;
  const Clock& clock_;
  Recent<std::optional<Requester>> callers_;  // by token
  Recent<bool> grants_;                       // by token and demand
};

}  // namespace slackline::control

// ApiRights: whether a bearer token may ask REST for something, remembered for a few seconds.
//
// Who a token is, and what was granted, is believed for 10 s; what was refused for 2 s, because
// people try again right after they were given the right; a failure is not kept. A peer that shows
// many unknown tokens is asked to wait (refused_tokens.h). Tokens are kept in memory only and never
// logged. Thread-safe; no lock is held while the API server is asked.
#pragma once

#include <optional>
#include <string>

#include "control/trust/recent.h"
#include "control/trust/refused_tokens.h"
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
  enum class Verdict { kAllowed, kUnknownCaller, kTooManyUnknown, kForbidden, kCannotTell };
  struct Answer {
    Verdict verdict = Verdict::kCannotTell;
    std::string detail;  // whose token it is; where it cannot be told, why
  };

  // Both outlive it.
  ApiRights(cluster::ApiReviewer& reviewer, const Clock& clock)
      : reviewer_(reviewer), clock_(clock) {}

  // What is still believed; nothing where the API server has to be asked. Never waits. `peer` is
  // where the token comes from.
  std::optional<Answer> recall(const std::string& peer, const std::string& token,
                               const ApiDemand& demand);
  // May wait for the API server.
  Answer ask(const std::string& peer, const std::string& token, const ApiDemand& demand);

 private:
  cluster::ApiReviewer& reviewer_;
  const Clock& clock_;
  Recent<Requester> callers_;  // by token
  RefusedTokens refused_;
  Recent<bool> grants_;  // by token and demand
};

}  // namespace slackline::control

// Rights: what users and bearer tokens may do, remembered for a few seconds so that a burst of
// questions asks the API server once.
//
// Who a token is, and what was granted, is believed for 10 s; what was refused for 2 s, because
// people try again right after they were given the right; a failure is not kept. A peer that shows
// many unknown tokens is asked to wait (refused_tokens.h), but for tokens that were known within
// the hour: who shares an address with others is not shut out by them. Tokens are kept in memory
// only and never logged. Users without a token are named by whoever reaches the webhook's listener,
// who can make them up: new questions about them are rated, kBurst of all and kRefill_per_s more a
// second, kNamespaceBurst and kNamespaceRefill_per_s for one namespace.
//
// Thread-safe; no lock is held while the API server is asked.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "control/trust/recent.h"
#include "control/trust/refused_tokens.h"
#include "message/admission_review.h"
#include "message/api_demand.h"
#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"
#include "slackline/base/token_bucket.h"

namespace slackline::cluster {
class Reviewer;
}

namespace slackline::control {

class Rights {
 public:
  static constexpr double kBurst = 50;
  static constexpr double kRefill_per_s = 20;
  static constexpr double kNamespaceBurst = 10;
  static constexpr double kNamespaceRefill_per_s = 2;

  enum class Verdict { kAllowed, kUnknownCaller, kTooManyUnknown, kForbidden, kCannotTell };
  struct Answer {
    Verdict verdict = Verdict::kCannotTell;
    std::string detail;  // who it is; where it cannot be told, why
  };

  // Both outlive it. `reviewer` is null where there is no API server: then nothing can be told.
  Rights(cluster::Reviewer* reviewer, const Clock& clock) : reviewer_(reviewer), clock_(clock) {}

  // What is still believed; nothing where the API server has to be asked. Never waits. `peer` is
  // where the token comes from.
  std::optional<Answer> recall(const std::string& peer, const std::string& token,
                               const ApiDemand& demand);
  // May wait for the API server.
  Answer ask(const std::string& peer, const std::string& token, const ApiDemand& demand);

  // The same of a user whom the API server itself names.
  Answer ask(const Requester& user, const ApiDemand& demand);

  // The same of a user that another names. Over its rate it cannot be told.
  Answer may(const Requester& user, const ApiDemand& demand);

 private:
  std::optional<Answer> recall(const Requester& user, const ApiDemand& demand);
  Answer review(const Requester& user, const ApiDemand& demand);
  bool is_within_rate(const std::string& ns);

  cluster::Reviewer* const reviewer_;
  const Clock& clock_;
  Recent<Requester> callers_;  // by token
  RefusedTokens refused_;
  Recent<bool> were_known_;  // by the hash of the token
  Recent<bool> grants_;      // by user and demand
  Mutex mutex_;
  TokenBucket all_ SLACKLINE_GUARDED_BY(mutex_);
  std::map<std::string, TokenBucket> namespaces_ SLACKLINE_GUARDED_BY(mutex_);
};

}  // namespace slackline::control

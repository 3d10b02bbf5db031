// UrgentRights: who may use the class `urgent` where, remembered for a few seconds so that a burst
// of Jobs asks the API server once.
//
// A grant is kept for 10 s, a denial for 2 s, because people try again right after they were given
// the right; a failure is not kept. New questions are rated, because whoever reaches the listener
// can make them up: kBurst of all and kRefill_per_s more a second, kNamespaceBurst and
// kNamespaceRefill_per_s for one namespace. Over its rate the right cannot be asked now, which
// refuses urgent and nothing else.
//
// Thread-safe; no lock is held while the API server is asked.
#pragma once

#include <map>
#include <string>

#include "control/serve/admission.h"
#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"
#include "slackline/base/token_bucket.h"

namespace slackline::cluster {
class AccessReviewer;
}

namespace slackline::control {

class UrgentRights {
 public:
  static constexpr double kBurst = 50;
  static constexpr double kRefill_per_s = 20;
  static constexpr double kNamespaceBurst = 10;
  static constexpr double kNamespaceRefill_per_s = 2;

  UrgentRights(cluster::AccessReviewer* reviewer, const Clock& clock)
      : reviewer_(reviewer), clock_(clock) {}

  struct Answer {
    UrgentRight right = UrgentRight::kUnknown;
    std::string detail;  // why it is unknown
  };
  Answer ask(const Requester& user, const std::string& ns);

 private:
  struct Kept {
    bool granted = false;
    double until_s = 0;  // steady clock
  };

  bool may_ask(const std::string& ns) SLACKLINE_REQUIRES(mutex_);

  cluster::AccessReviewer* reviewer_;
  const Clock& clock_;
  Mutex mutex_;
  std::map<std::string, Kept> kept_ SLACKLINE_GUARDED_BY(mutex_);
  TokenBucket all_ SLACKLINE_GUARDED_BY(mutex_);
  std::map<std::string, TokenBucket> namespaces_ SLACKLINE_GUARDED_BY(mutex_);
};

}  // namespace slackline::control

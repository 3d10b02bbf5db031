// UrgentRights: who may use the class `urgent` where, remembered for a few seconds so that a burst
// of Jobs asks the API server once.
//
// A grant is kept for 10 s, a denial for 2 s, because people try again right after they were given
// the right; a failure is not kept. Thread-safe; no lock is held while the API server is asked.
#pragma once

#include <map>
#include <string>

#include "control/serve/admission.h"
#include "slackline/base/clock.h"
#include "slackline/base/mutex.h"

namespace slackline::cluster {
class AccessReviewer;
}

namespace slackline::control {

class UrgentRights {
 public:
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

  cluster::AccessReviewer* reviewer_;
  const Clock& clock_;
  Mutex mutex_;
  std::map<std::string, Kept> kept_ SLACKLINE_GUARDED_BY(mutex_);
};

}  // namespace slackline::control

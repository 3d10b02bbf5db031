#include "slackline/base/pace.h"

#include <algorithm>

namespace slackline {

double Pace::worked(double began_s, double ended_s) {
  const double earned_s = limits_.share * (ended_s - since_s_);
  saved_s_ = std::min(limits_.most_saved_s, saved_s_ + earned_s) - (ended_s - began_s);
  saved_s_ = std::max(saved_s_, -limits_.share * limits_.most_rest_s);
  since_s_ = ended_s;
  return ended_s + std::max(0.0, -saved_s_) / limits_.share;
}

}  // namespace slackline

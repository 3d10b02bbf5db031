// TokenBucket: allows a burst, then a rate per second.
//
// Not thread-safe.
#pragma once

#include <algorithm>

namespace slackline {

struct TokenBucket {
  double tokens = 0;
  double filled_s = 0;  // steady; 0: full

  double left(double now_s, double burst, double refill_per_s) const {
    return filled_s == 0 ? burst : std::min(burst, tokens + (now_s - filled_s) * refill_per_s);
  }

  // False: over the rate.
  bool take(double now_s, double burst, double refill_per_s, double cost = 1) {
    tokens = left(now_s, burst, refill_per_s);
    filled_s = now_s;
    if (tokens < cost) return false;
    tokens -= cost;
    return true;
  }
};

}  // namespace slackline

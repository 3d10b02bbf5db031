// Turnstile: a rate per second for each name, with bursts of three seconds' worth. The rest waits:
// nobody is refused because of a burst. One thread.
#pragma once

#include <chrono>
#include <map>
#include <string>

#include "slackline/base/token_bucket.h"

namespace slackline::http {

class Turnstile {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr double kBurst_s = 3;

  explicit Turnstile(double per_second) : per_second_(per_second) {}

  // True if one more of `name` may pass now; it is counted.
  bool pass(const std::string& name, Time now) {
    return buckets_[name].take(seconds(now), per_second_ * kBurst_s, per_second_);
  }

  // Drops the names that have been quiet; call it now and then.
  void forget(Time now) {
    std::erase_if(buckets_, [&](const auto& entry) {
      const double burst = per_second_ * kBurst_s;
      return entry.second.left(seconds(now), burst, per_second_) >= burst;
    });
  }

 private:
  static double seconds(Time time) {
    return std::chrono::duration<double>(time.time_since_epoch()).count();
  }

  const double per_second_;
  std::map<std::string, TokenBucket> buckets_;
};

}  // namespace slackline::http

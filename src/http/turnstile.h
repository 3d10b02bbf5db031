// So many a second for each name, and as many at once as three seconds would let through. The rest
// waits: nobody is refused for coming all at once. One thread.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

namespace slackline::http {

class Turnstile {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr double kBurst_s = 3;

  explicit Turnstile(double per_second) : per_second_(per_second) {}

  // True: one more of `name` may pass now, and is counted.
  bool pass(const std::string& name, Time now) {
    Bucket& bucket = buckets_.try_emplace(name, Bucket{per_second_ * kBurst_s, now}).first->second;
    bucket = {left(bucket, now), now};
    if (bucket.left < 1) return false;
    bucket.left -= 1;
    return true;
  }

  // Drops the names that have been quiet; call it now and then.
  void forget(Time now) {
    std::erase_if(buckets_, [&](const auto& entry) {
      return left(entry.second, now) >= per_second_ * kBurst_s;
    });
  }

 private:
  struct Bucket {
    double left = 0;
    Time filled;
  };

  double left(const Bucket& bucket, Time now) const {
    const double quiet_s = std::chrono::duration<double>(now - bucket.filled).count();
    return std::min(per_second_ * kBurst_s, bucket.left + per_second_ * quiet_s);
  }

  const double per_second_;
  std::map<std::string, Bucket> buckets_;
};

}  // namespace slackline::http

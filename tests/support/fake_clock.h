// A clock that moves only when a test says so.
#pragma once

#include <atomic>

#include "slackline/base/clock.h"

namespace slackline::test {

class FakeClock final : public Clock {
 public:
  double wall_s() const override { return wall_s_; }
  double steady_s() const override { return steady_s_; }
  void advance(double seconds) {
    wall_s_ = wall_s_ + seconds;
    steady_s_ = steady_s_ + seconds;
  }
  // Somebody sets the clock; no time passes.
  void jump_wall(double seconds) { wall_s_ = wall_s_ + seconds; }

 private:
  std::atomic<double> wall_s_{1.8e9};
  std::atomic<double> steady_s_{1000};
};

}  // namespace slackline::test

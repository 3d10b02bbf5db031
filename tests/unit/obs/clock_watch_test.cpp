#include "obs/clock_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_clock.h"

namespace slackline::obs {
namespace {

// F29: a jump is counted, time that passes and what NTP slews are not.
TEST(ClockWatch, CountsJumpsOfTheWallClockAndNothingElse) {
  MetricsRegistry metrics;
  test::FakeClock clock;
  ClockWatch watch(metrics, clock);
  for (int i = 0; i < 100; ++i) {
    clock.advance(1);
    clock.jump_wall(0.0005);
    ASSERT_EQ(watch.look(), 0);
  }
  EXPECT_THAT(metrics.expose(), testing::HasSubstr("slackline_clock_jumps_total 0"));
  for (const double jump_s : {3600.0, -3600.0, 3.15e8, -6.3e8, 60.0}) {
    clock.advance(1);
    clock.jump_wall(jump_s);
    EXPECT_NEAR(watch.look(), jump_s, 1e-3);
    clock.advance(1);
    EXPECT_EQ(watch.look(), 0) << "a jump is counted once";
  }
  EXPECT_THAT(metrics.expose(), testing::HasSubstr("slackline_clock_jumps_total 5"));
}

}  // namespace
}  // namespace slackline::obs

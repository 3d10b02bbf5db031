#include "obs/log_limit.h"

#include <gtest/gtest.h>

namespace slackline::obs {
namespace {

TEST(LogLimit, AFloodIsCutAndItsLengthTold) {
  LogLimit limit(3, 10);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(limit.admit(100 + i), 0);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(limit.admit(105), std::nullopt);
  EXPECT_EQ(limit.admit(110), 1000) << "a new period";
  EXPECT_EQ(limit.admit(110), 0);
}

TEST(LogLimit, ATrickleIsWrittenWhole) {
  LogLimit limit(3, 10);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(limit.admit(4.0 * i), 0);
}

}  // namespace
}  // namespace slackline::obs

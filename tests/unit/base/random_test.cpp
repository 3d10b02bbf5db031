#include "slackline/base/random.h"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

namespace slackline {
namespace {

// SplitMix64's published sequence: whoever changes it changes every generated trace.
TEST(Random, SeedZeroGivesThePublishedNumbers) {
  Random random(0);
  EXPECT_EQ(random.next(), 0xe220a8397b1dcdafU);
  EXPECT_EQ(random.next(), 0x6e789e6aa1b965f4U);
}

TEST(Random, TheLogarithmIsLibmsToTheLastBits) {
  Random random(1);
  for (int i = 0; i < 10000; ++i) {
    const double x = random.uniform(1e-12, 1) * std::ldexp(1.0, static_cast<int>(random.index(60)));
    EXPECT_NEAR(portable_log(x), std::log(x), 4e-16 * std::abs(std::log(x)) + 1e-300) << x;
  }
  EXPECT_EQ(portable_log(1), 0);
  EXPECT_DOUBLE_EQ(portable_log(0x1p-53), -53 * std::log(2.0));
}

TEST(Random, DistributionsHaveTheirMeans) {
  Random random(2);
  constexpr int kDraws = 200000;
  double exponential = 0;
  double normal = 0;
  double squares = 0;
  std::array<int, 3> index{};
  for (int i = 0; i < kDraws; ++i) {
    exponential += random.exponential(360) / kDraws;
    const double z = random.normal();
    normal += z / kDraws;
    squares += z * z / kDraws;
    ++index[random.index(3)];
  }
  EXPECT_NEAR(exponential, 360, 4);
  EXPECT_NEAR(normal, 0, 0.01);
  EXPECT_NEAR(squares, 1, 0.02);
  for (const int count : index)
    EXPECT_NEAR(count, kDraws / 3.0, 1000);
}

TEST(Random, AWeightOfZeroIsNeverDrawn) {
  Random random(3);
  const std::array weights = {0.0, 2.0, 0.0, 1.0, 0.0};
  std::array<int, 5> drawn{};
  for (int i = 0; i < 30000; ++i)
    ++drawn[random.weighted(weights)];
  EXPECT_EQ(drawn[0] + drawn[2] + drawn[4], 0);
  EXPECT_NEAR(drawn[1], 20000, 500);
}

}  // namespace
}  // namespace slackline

// Run times from a family's own past, and how far they may be trusted.
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "slackline/core/portrait/run_time.h"

namespace slackline::core {
namespace {

const GpuType kType("A100");

PastRun ran(int gpus, double run_s) {
  return {Uid("run"), kType, gpus, run_s, 0, RunOutcome::kSucceeded};
}

TEST(PortraitRunTime, TheMedianOfRunsOnAsManyGpus) {
  const std::vector<PastRun> past{ran(4, 100), ran(4, 400), ran(4, 200), ran(8, 10)};
  const auto found = run_time_from(past, kType, 4);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->median_s, 200, 1e-9);
  EXPECT_EQ(found->runs, 3);
  EXPECT_FALSE(found->scaled);
}

TEST(PortraitRunTime, FailedRunsAndOtherGpuTypesSayNothing) {
  std::vector<PastRun> past{ran(4, 100)};
  EXPECT_FALSE(run_time_from(past, GpuType("T4"), 4));
  past[0].outcome = RunOutcome::kFailed;
  EXPECT_FALSE(run_time_from(past, kType, 4));
  EXPECT_FALSE(run_time_from({}, kType, 4));
}

TEST(PortraitRunTime, NothingIsInventedForAnotherNumberOfGpus) {
  const std::vector<PastRun> past{ran(4, 100), ran(4, 110)};
  EXPECT_FALSE(run_time_from(past, kType, 8));
}

TEST(PortraitRunTime, OtherNumbersAreScaledByTheModelElseByThePast) {
  const std::vector<PastRun> past{ran(1, 800), ran(2, 400), ran(1, 800)};
  const auto by_past = run_time_from(past, kType, 4);
  ASSERT_TRUE(by_past);
  EXPECT_TRUE(by_past->scaled);
  EXPECT_NEAR(by_past->median_s, 200, 1e-6);
  const auto by_model =
      run_time_from(past, kType, 4, [](int gpus) { return gpus == 1 ? 0.5 : 1.0; });
  EXPECT_NEAR(by_model->median_s, 400, 1e-6);
  // A run that was slower with more GPUs does not make time grow with them.
  EXPECT_NEAR(run_time_from(std::vector{ran(1, 100), ran(2, 300)}, kType, 4)->high_s /
                  run_time_from(std::vector{ran(1, 100), ran(2, 300)}, kType, 8)->high_s,
              1, 1e-9);
}

TEST(PortraitRunTime, FewRunsHaveNotEarnedANarrowInterval) {
  std::vector<PastRun> past(9, ran(4, 100));
  auto found = run_time_from(past, kType, 4);
  EXPECT_FALSE(found->earned);
  EXPECT_NEAR(found->high_s, 500, 1e-6);
  EXPECT_NEAR(found->low_s, 20, 1e-6);
  past.push_back(ran(4, 100));
  found = run_time_from(past, kType, 4);
  EXPECT_TRUE(found->earned);
  EXPECT_NEAR(found->high_s, 100, 1e-6);
}

// Families of random spread: nine of ten next runs end within the interval, whatever was seen.
TEST(PortraitRunTime, TheIntervalCoversNineOfTenRuns) {
  constexpr int kFamilies = 4000;
  std::mt19937 random(7);
  for (const int runs : {1, 5, 10, 20, 32}) {
    int covered = 0;
    for (int family = 0; family < kFamilies; ++family) {
      const double spread = std::uniform_real_distribution(0.0, 0.8)(random);
      std::lognormal_distribution<double> time(8, spread);
      std::vector<PastRun> past;
      for (int i = 0; i < runs; ++i)
        past.push_back(ran(4, time(random)));
      const auto found = run_time_from(past, kType, 4);
      const double next_s = time(random);
      covered += next_s >= found->low_s && next_s <= found->high_s ? 1 : 0;
    }
    EXPECT_GT(covered, kFamilies * 0.89) << runs;
  }
}

}  // namespace
}  // namespace slackline::core

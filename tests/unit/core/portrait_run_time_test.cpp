// Run times from a family's own past, and how far they may be trusted.
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "slackline/core/portrait/learn.h"
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
  std::vector<PastRun> past(19, ran(4, 100));
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

// Data grows, code changes: the time of a run wanders from that of the one before.
TEST(PortraitRunTime, ItCoversThemAlsoOfFamiliesThatChange) {
  constexpr int kFamilies = 4000;
  std::mt19937 random(11);
  std::normal_distribution<double> normal;
  int covered = 0;
  for (int family = 0; family < kFamilies; ++family) {
    double level = 8;
    const auto next = [&] {
      level += 0.15 * normal(random);
      return std::exp(level + 0.3 * normal(random));
    };
    std::vector<PastRun> past;
    for (int i = 0; i < 32; ++i)
      past.push_back(ran(4, next()));
    const auto found = run_time_from(past, kType, 4);
    EXPECT_TRUE(found->earned);
    const double next_s = next();
    covered += next_s >= found->low_s && next_s <= found->high_s ? 1 : 0;
  }
  EXPECT_GT(covered, kFamilies * 0.88);
}

PortraitRun ended(int number, double finished_s, double run_s) {
  PortraitRun run;
  run.usage.run = Uid("run-" + std::to_string(number));
  run.gpu_type = kType;
  run.shape = {1, 4};
  run.finished_s = finished_s;
  run.run_s = run_s;
  return run;
}

// A day of quick tries, then one that works and takes ten hours: the tries alone look certain.
TEST(PortraitRunTime, ABurstOfEqualRunsDoesNotEarnANarrowInterval) {
  Portrait portrait;
  int number = 0;
  for (int day = 0; day < 5; ++day) {
    const double begin_s = 86400.0 * (100 + day);
    for (int i = 0; i < 40; ++i) {
      ++number;
      const double finished_s = begin_s + 100 * i;
      add_run(portrait, ended(number, finished_s, i % 10 == 9 ? 36000 : 60));
    }
  }
  for (int i = 0; i < 40; ++i)
    add_run(portrait, ended(++number, 86400.0 * 105 + 100 * i, 60));
  const auto by_memory = run_time_from(portrait.past, kType, 4);
  const auto by_record = run_time_of(portrait, kType, 4);
  ASSERT_TRUE(by_memory && by_record);
  EXPECT_NEAR(by_record->median_s, by_memory->median_s, 1e-9);
  EXPECT_LT(by_memory->high_s, 61) << "all that it remembers are quick";
  EXPECT_GT(by_record->high_s, 30000) << "it has been wrong by so much before";
  EXPECT_TRUE(by_record->earned);
}

TEST(PortraitRunTime, AFamilyThatNeverChangesEarnsANarrowInterval) {
  Portrait portrait;
  for (int number = 1; number <= 60; ++number)
    add_run(portrait, ended(number, 86400.0 * 100 + 3600 * number, 1800));
  const auto found = run_time_of(portrait, kType, 4);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->earned);
  EXPECT_LT(found->high_s, 1800 * 1.02);
}

// A run is predicted by what was known when it began.
TEST(PortraitRunTime, TheErrorOfARunIsOfWhatHadEndedWhenItBegan) {
  std::vector<PastRun> past{ran(4, 100), ran(4, 800)};
  past[0].finished_s = 1000;
  past[1].finished_s = 5000;
  PastRun run = ran(4, 200);
  run.finished_s = 2000;
  EXPECT_NEAR(*error_of_past(past, run), std::log(2), 1e-9);
  run.finished_s = 900;
  EXPECT_NEAR(*error_of_past(past, run), std::log(std::sqrt(100.0 * 800) / 200), 1e-9)
      << "nothing had ended: by all that is known";
  run.outcome = RunOutcome::kFailed;
  EXPECT_FALSE(error_of_past(past, run));
  EXPECT_FALSE(error_of_past({}, ran(4, 200)));
}

}  // namespace
}  // namespace slackline::core

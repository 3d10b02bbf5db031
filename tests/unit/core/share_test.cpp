#include "slackline/core/sharing/share.h"

#include <cmath>

#include <gtest/gtest.h>

namespace slackline::core {
namespace {

constexpr double kGib = 1024.0 * 1024 * 1024;

ShareTask task(const char* family, double memory_gib) {
  ShareTask task;
  task.task = {family, ""};
  task.memory_bytes = memory_gib * kGib;
  return task;
}

class Share : public testing::Test {
 protected:
  PairModel model(PairSpeeds speeds) const {
    PairTable table(GpuType("T4"), GpuSharing::kTimeslice);
    table.observe({"new", ""}, {"old", ""}, speeds);
    return PairModel::fit(table);
  }
  ShareRefusal refusal(PairSpeeds speeds) const {
    return judge_share(task_, resident_, gpu_, model(speeds), limits_).refusal;
  }

  ShareTask task_ = task("new", 6);
  ShareTask resident_ = task("old", 8);
  SharedGpu gpu_{16 * kGib, {}, {}};
  SharingLimits limits_;
};

TEST_F(Share, TwoThatHardlySlowEachOtherMay) {
  const auto verdict = judge_share(task_, resident_, gpu_, model({0.9, 0.8}), limits_);
  EXPECT_TRUE(verdict.ok());
  EXPECT_NEAR(verdict.score, 1.7, 1e-12);
  EXPECT_TRUE(verdict.prediction->measured);
}

TEST_F(Share, BothMustFitIntoMemory) {
  task_.memory_bytes = 7.2 * kGib;  // 95 % of 16 GiB
  EXPECT_EQ(refusal({0.9, 0.8}), ShareRefusal::kNone);
  task_.memory_bytes = 7.3 * kGib;
  EXPECT_EQ(refusal({0.9, 0.8}), ShareRefusal::kMemory);
  resident_.memory_bytes.reset();
  EXPECT_EQ(refusal({0.9, 0.8}), ShareRefusal::kMemoryUnknown);
}

TEST_F(Share, TogetherTheyMustBeFasterThanOneAfterTheOther) {
  EXPECT_EQ(refusal({0.6, 0.51}), ShareRefusal::kNone);
  EXPECT_EQ(refusal({0.6, 0.49}), ShareRefusal::kLeastSum);
}

TEST_F(Share, NeitherMayBeTooSlowForItself) {
  EXPECT_EQ(refusal({0.44, 0.9}), ShareRefusal::kLeastSpeed);
  EXPECT_EQ(refusal({0.9, 0.44}), ShareRefusal::kLeastSpeed);
  resident_.least_speed = 0.4;
  EXPECT_EQ(refusal({0.9, 0.44}), ShareRefusal::kNone);
  task_.least_speed = 0.95;
  EXPECT_EQ(refusal({0.9, 0.44}), ShareRefusal::kLeastSpeed);
}

TEST_F(Share, NeitherMayMissItsDeadlineBesideTheOther) {
  resident_.left_s = 800;
  resident_.until_deadline_s = 1000;
  EXPECT_EQ(refusal({0.9, 0.8}), ShareRefusal::kNone);
  EXPECT_EQ(refusal({0.9, 0.79}), ShareRefusal::kDeadline);
  task_.left_s = 100;
  task_.until_deadline_s = 105;
  EXPECT_EQ(refusal({0.9, 0.8}), ShareRefusal::kDeadline);
}

TEST_F(Share, ABusyGpuIsRefusedOnlyByAFreshSample) {
  limits_.most_gpu_util = 0.85;
  limits_.most_gpu_mem_util = 0.7;
  EXPECT_EQ(refusal({0.9, 0.8}), ShareRefusal::kNone) << "no sample";
  gpu_.gpu_util = 0.85;
  EXPECT_EQ(refusal({0.9, 0.8}), ShareRefusal::kNone);
  gpu_.gpu_util = 0.86;
  EXPECT_EQ(refusal({0.9, 0.8}), ShareRefusal::kBusyGpu);
  gpu_ = {16 * kGib, 0.1, 0.71};
  EXPECT_EQ(refusal({0.9, 0.8}), ShareRefusal::kBusyGpu);
}

TEST_F(Share, OtherScoresOrderPartnersByUtilisationOrMetrics) {
  task_.gpu_utilisation = 0.3;
  resident_.gpu_utilisation = 0.5;
  task_.gpu_metrics = {1, 0};
  resident_.gpu_metrics = {1, 1};
  const auto score = [&](SharingScore by) {
    return judge_share(task_, resident_, gpu_, model({0.9, 0.8}), limits_, by).score;
  };
  EXPECT_NEAR(score(SharingScore::kUtilisation), 1.2, 1e-12);
  EXPECT_NEAR(score(SharingScore::kCosine), 1 - std::sqrt(0.5), 1e-12);
  for (const auto by : {SharingScore::kPairs, SharingScore::kUtilisation, SharingScore::kCosine})
    EXPECT_EQ(parse_sharing_score(to_string(by)), by);
  EXPECT_FALSE(parse_sharing_score("similarity"));
}

TEST(ClampedCosine, IsNeverNegativeAndZeroWithoutMetrics) {
  const std::vector<double> up = {1, 2};
  EXPECT_NEAR(clamped_cosine(up, std::vector<double>{2, 4}), 1, 1e-12);
  EXPECT_EQ(clamped_cosine(up, std::vector<double>{-1, -2}), 0);
  EXPECT_EQ(clamped_cosine(up, std::vector<double>{0, 0}), 0);
  EXPECT_EQ(clamped_cosine(up, std::vector<double>{1}), 0);
  EXPECT_EQ(clamped_cosine({}, {}), 0);
}

TEST(SharePoints, AnEmptyGpuIsBestAndTheLeastSumIsWorst) {
  EXPECT_EQ(share_points(true, 0, {}), 10);
  EXPECT_EQ(share_points(false, 1.1, {}), 0);
  EXPECT_EQ(share_points(false, 1.55, {}), 4);
  EXPECT_EQ(share_points(false, 2.0, {}), 8);
  EXPECT_EQ(share_points(false, 3.0, {}), 8);
}

ShareVerdict verdict_of(double score) {
  ShareVerdict verdict;
  verdict.score = score;
  if (score <= 0) verdict.refusal = ShareRefusal::kLeastSum;
  return verdict;
}

TEST(PickShare, AnEmptyGpuIsForTheOldest) {
  const auto pick = pick_share(3, {{4, 5}, {0}}, [](auto, auto) { return verdict_of(2); });
  EXPECT_EQ(pick->waiting, 0U);
  EXPECT_EQ(pick->gpu, 4U);
}

TEST(PickShare, ElseTheBestPairTheOldestAndTheFirstGpuOfEquals) {
  const double scores[3][2] = {{0, 1.2}, {1.5, 1.5}, {1.5, 1.4}};
  const auto judge = [&](std::size_t waiting, std::size_t gpu) {
    return verdict_of(scores[waiting][gpu]);
  };
  const auto pick = pick_share(3, {{}, {0, 1}}, judge);
  EXPECT_EQ(pick->waiting, 1U);
  EXPECT_EQ(pick->gpu, 0U);
  EXPECT_FALSE(pick_share(1, {{}, {0}}, judge)) << "it waits";
  EXPECT_FALSE(pick_share(0, {{1}, {0}}, judge));
}

TEST(PickShare, LooksAtTheFirstTwentyOnly) {
  const auto judge = [](std::size_t waiting, std::size_t) {
    return verdict_of(waiting == 20 ? 2 : 0);
  };
  EXPECT_FALSE(pick_share(30, {{}, {0}}, judge));
}

}  // namespace
}  // namespace slackline::core

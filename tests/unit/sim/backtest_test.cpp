// Back-tests of run times: from the past alone, and by the code of the daemon.
#include "sim/backtest.h"

#include <cmath>

#include <gtest/gtest.h>

namespace slackline::sim {
namespace {

RecordedJob job(double submit_s, double duration_s, std::int64_t gpus = 1,
                const std::string& cluster = "vc") {
  RecordedJob one;
  one.line = static_cast<int>(submit_s) + 2;
  one.submit_s = submit_s;
  one.duration_s = duration_s;
  one.gpus = gpus;
  one.cluster = cluster;
  return one;
}

TEST(RunTimeRule, OnlyRunsThatHadEndedAreKnown) {
  const std::vector<RecordedJob> jobs = {job(0, 100), job(50, 400), job(100, 1), job(200, 1),
                                         job(451, 1)};
  const auto last = expected_run_times(jobs, RunTimeRule::kLast, FamilyRule::kCluster);
  EXPECT_FALSE(last[0]);
  EXPECT_FALSE(last[1]) << "the first still runs";
  EXPECT_DOUBLE_EQ(last[2]->median_s, 100) << "it has just ended";
  EXPECT_DOUBLE_EQ(last[3]->median_s, 1);
  EXPECT_DOUBLE_EQ(last[4]->median_s, 400);
}

TEST(RunTimeRule, ARunThatWaitedIsKnownOnceItHasEnded) {
  std::vector<RecordedJob> jobs = {job(0, 100), job(500, 1), job(1100, 1)};
  jobs[0].end_s = 1100;
  for (const RunTimeRule rule : {RunTimeRule::kLast, RunTimeRule::kHistory}) {
    const auto expected = expected_run_times({jobs.data(), 2}, rule, FamilyRule::kCluster);
    EXPECT_FALSE(expected[1]) << "the first still waits, or runs";
  }
  const auto last = expected_run_times(jobs, RunTimeRule::kLast, FamilyRule::kCluster);
  EXPECT_DOUBLE_EQ(last[2]->median_s, 100);
}

TEST(RunTimeRule, FamiliesAndNumbersOfGpusAreToldApart) {
  std::vector<RecordedJob> jobs = {job(0, 100), job(1000, 1, 2), job(2000, 1, 1, "other"),
                                   job(3000, 1)};
  jobs[0].type = "bert";
  const auto by_cluster = expected_run_times(jobs, RunTimeRule::kMean, FamilyRule::kCluster);
  EXPECT_FALSE(by_cluster[1]);
  EXPECT_FALSE(by_cluster[2]);
  EXPECT_DOUBLE_EQ(by_cluster[3]->median_s, 100);
  EXPECT_FALSE(expected_run_times(jobs, RunTimeRule::kMean, FamilyRule::kModel)[3]);
}

TEST(RunTimeRule, HistoryIsTheMedianThatTheDaemonWouldUse) {
  std::vector<RecordedJob> jobs;
  for (int i = 0; i < 9; ++i)
    jobs.push_back(job(1000 * i, i < 8 ? 100 + i : 1));
  const auto history = expected_run_times(jobs, RunTimeRule::kHistory, FamilyRule::kCluster);
  EXPECT_FALSE(history[0]);
  EXPECT_NEAR(history[8]->median_s, std::sqrt(103.0 * 104), 1e-6);
}

TEST(RunTimeRule, SimilarIsTheNearestOtherFamilyOfTheCluster) {
  std::vector<RecordedJob> jobs = {job(0, 100), job(1000, 500), job(2000, 10000, 1, "other"),
                                   job(20000, 1), job(30000, 1)};
  jobs[0].type = jobs[2].type = "resnet50";
  jobs[1].type = jobs[4].type = "bert";
  jobs[3].type = "resnet101";
  const auto similar = expected_run_times(jobs, RunTimeRule::kSimilar, FamilyRule::kModel);
  ASSERT_TRUE(similar[3]);
  EXPECT_NEAR(similar[3]->median_s, 100, 1e-6);
  EXPECT_NEAR(similar[3]->high_s, 500, 1e-6) << "a guess is no better than five times";
  EXPECT_FALSE(similar[3]->earned);
  ASSERT_TRUE(similar[4]) << "its own past does not count";
  EXPECT_NEAR(similar[4]->median_s, 1, 1e-6) << "in the same image, what ran last";
}

TEST(Backtest, SaysHowFarOffAndHowOftenWithin) {
  // Of a rule that always says an hour: 1, 2 and 10 hours.
  const std::vector<RecordedJob> jobs = {job(0, 3600), job(1, 7200), job(2, 36000), job(3, 0),
                                         job(4, 60, 0)};
  const std::vector<BacktestRow> rows = backtest(jobs, FamilyRule::kCluster);
  ASSERT_EQ(rows.size(), 8U) << "all of them and the one cluster, four rules each";
  const BacktestRow& none = rows[3];
  EXPECT_EQ(none.cluster, "all");
  EXPECT_EQ(none.rule, RunTimeRule::kNone);
  EXPECT_EQ(none.jobs, 3) << "without a GPU or a duration a job is none";
  EXPECT_DOUBLE_EQ(none.said, 1);
  EXPECT_NEAR(none.median_factor, 2, 1e-9);
  EXPECT_NEAR(none.covered, 2.0 / 3, 1e-9);
  EXPECT_NEAR(none.median_width, 5, 1e-9);
  EXPECT_DOUBLE_EQ(rows[0].said, 0) << "nothing had ended";
  EXPECT_EQ(backtest(jobs, FamilyRule::kModel).size(), 10U) << "and similar";
}

}  // namespace
}  // namespace slackline::sim

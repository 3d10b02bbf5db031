// What is compared of real and virtual runs, and how sure it is.
#include "control/query/shadow_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/text.h"

namespace slackline::control {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kToday_s = 20'000 * 86'400.0;

// It waited for 100 s and ran for 1000 s on two GPUs; by the planner it would have waited
// `saved_s` less.
FinishedTask run(int days_ago, double saved_s, const std::string& ns = "a") {
  FinishedTask task;
  task.key = {ns, "train"};
  task.finished_s = kToday_s - days_ago * 86'400.0 + 3600;
  task.started_s = task.finished_s - 1000;
  task.created_s = *task.started_s - 100;
  task.succeeded = true;
  task.gpus = 2;
  task.gpu_hours = 2.0 * 1000 / 3600;
  task.shadow = ShadowRun{*task.started_s - saved_s, task.finished_s - saved_s, 2};
  return task;
}

ShadowReportView report(const std::vector<FinishedTask>& tasks, const std::string& ns = "") {
  ShadowReportMaker maker({.ns = ns, .from_s = kToday_s - 30 * 86'400.0, .to_s = kToday_s + 9000});
  for (const FinishedTask& task : tasks)
    maker.add(task);
  return maker.make();
}

TEST(ShadowReportTest, AFewRunsHaveAMeanAndNoInterval) {
  const ShadowReportView view = report({run(0, 90), run(0, 30), run(1, 0)});
  EXPECT_EQ(view.total.compared, 3);
  EXPECT_EQ(view.total.days, 2);
  ASSERT_TRUE(view.total.wait_s);
  EXPECT_DOUBLE_EQ(view.total.wait_s->real, 100);
  EXPECT_DOUBLE_EQ(view.total.wait_s->shadow, 60);
  EXPECT_DOUBLE_EQ(view.total.wait_s->gain, 40);
  EXPECT_FALSE(view.total.wait_s->gain_low);
  EXPECT_DOUBLE_EQ(view.total.complete_s->gain, 40);
  EXPECT_NEAR(view.total.gpu_hours->gain, 0, 1e-9);
  EXPECT_FALSE(view.total.in_time) << "none had a deadline";
}

// Five days with one run each are five numbers: 30 +- 2.776 x 15.811 / sqrt(5).
TEST(ShadowReportTest, DaysAreTheSample) {
  std::vector<FinishedTask> tasks;
  for (int day = 0; day < 5; ++day)
    tasks.push_back(run(day, 10.0 * (day + 1)));
  const auto once = report(tasks).total.wait_s;
  EXPECT_NEAR(*once->gain_low, 30 - 19.63, 0.01);
  EXPECT_NEAR(*once->gain_high, 30 + 19.63, 0.01);
  // Ten runs of a day that all went the same way say no more than one.
  std::vector<FinishedTask> crowd;
  for (const FinishedTask& task : tasks)
    crowd.insert(crowd.end(), 10, task);
  const auto again = report(crowd).total.wait_s;
  EXPECT_NEAR(*again->gain_low, *once->gain_low, 1e-6);
  EXPECT_NEAR(*again->gain_high, *once->gain_high, 1e-6);
}

TEST(ShadowReportTest, WhatDidNotGoToItsEndInBothIsCountedAndNotCompared) {
  FinishedTask failed = run(0, 50);
  failed.succeeded = false;
  FinishedTask unseen = run(0, 50);
  unseen.shadow.reset();
  FinishedTask long_ago = run(31, 50);
  const ShadowReportView view = report({failed, unseen, long_ago, run(0, 20)});
  EXPECT_EQ(view.total.runs, 3);
  EXPECT_EQ(view.total.compared, 1);
  EXPECT_DOUBLE_EQ(view.total.wait_s->gain, 20);
  EXPECT_THAT(view.notes.back(), HasSubstr("2 of 3 runs are not compared"));
  EXPECT_FALSE(report({failed}).total.wait_s);
}

TEST(ShadowReportTest, DeadlinesAreWonAndLost) {
  FinishedTask won = run(0, 80);
  won.deadline_s = won.finished_s - 50;
  FinishedTask lost = run(0, -80);
  lost.deadline_s = lost.finished_s + 50;
  FinishedTask kept = run(0, 0);
  kept.deadline_s = kept.finished_s + 50;
  const ShadowRow all = report({won, won, lost, kept, run(0, 0)}).total;
  EXPECT_EQ(all.deadlines, 4);
  EXPECT_DOUBLE_EQ(all.in_time->real, 0.5);
  EXPECT_DOUBLE_EQ(all.in_time->shadow, 0.75);
  EXPECT_DOUBLE_EQ(all.in_time->gain, 0.25);
  EXPECT_DOUBLE_EQ(all.wait_s->gain, 16) << "(80 + 80 - 80) / 5";
}

TEST(ShadowReportTest, EachNamespaceHasItsRow) {
  const std::vector<FinishedTask> tasks = {run(0, 10, "b"), run(0, 30, "a"), run(0, 50, "a")};
  const auto listed = [](const ShadowReportView& view) {
    std::vector<std::string> names;
    for (const ShadowRow& row : view.rows)
      names.push_back(format("{} {} {}", row.ns, row.compared, row.wait_s->gain));
    return names;
  };
  EXPECT_THAT(listed(report(tasks)), ElementsAre("a 2 40", "b 1 10"));
  EXPECT_THAT(listed(report(tasks, "b")), ElementsAre("b 1 10"));
  EXPECT_EQ(report(tasks, "b").total.runs, 1);
}

}  // namespace
}  // namespace slackline::control

// What counts of the reports of a training Job.
#include "slackline/model/progress.h"

#include <gtest/gtest.h>

namespace slackline {
namespace {

constexpr double kNow_s = 2000;

ProgressReport report(std::int64_t iteration, std::optional<double> time_s = {}) {
  return {.iteration = iteration, .total = 1000, .loss = {}, .time_s = time_s, .phase = {}};
}

ProgressNote noted(std::int64_t iteration, double at_s) {
  return {.iteration = iteration, .total = 1000, .at_s = at_s};
}

TEST(ProgressTest, TheFirstReportStandsAlone) {
  const ProgressNote note = with_report(nullptr, report(100), 1000, kNow_s);
  EXPECT_EQ(note.iteration, 100);
  EXPECT_EQ(note.at_s, kNow_s);
  EXPECT_FALSE(note.first);
  EXPECT_FALSE(note.work_s());
  EXPECT_EQ(note.done(), 0.1);
}

TEST(ProgressTest, TwoReportsAMinuteApartTellTheSpeed) {
  const ProgressNote before = noted(100, kNow_s - 59);
  EXPECT_FALSE(with_report(&before, report(200), 1000, kNow_s).work_s());
  const ProgressNote minute = noted(100, kNow_s - 60);
  const ProgressNote after = with_report(&minute, report(200), 1000, kNow_s);
  ASSERT_TRUE(after.work_s());
  EXPECT_EQ(*after.work_s(), 600);
  const ProgressNote later = with_report(&after, report(220), 1000, kNow_s + 60);
  EXPECT_EQ(later.first->iteration, 100) << "the speed is that of the whole attempt";
  EXPECT_EQ(*later.work_s(), 1000);
}

TEST(ProgressTest, WithinAnAttemptItOnlyRises) {
  const ProgressNote before = noted(500, kNow_s - 10);
  EXPECT_EQ(with_report(&before, report(499), 1000, kNow_s).iteration, 500);
  EXPECT_EQ(with_report(&before, report(499), std::nullopt, kNow_s).iteration, 500)
      << "it is being stopped";
  EXPECT_EQ(with_report(&before, report(600, kNow_s - 11), 1000, kNow_s).iteration, 500)
      << "an old report that comes late";
  EXPECT_EQ(with_report(&before, report(500), 1000, kNow_s).at_s, kNow_s);
}

TEST(ProgressTest, ANewAttemptMayBeginEarlierAndHasASpeedOfItsOwn) {
  const ProgressNote before = noted(500, kNow_s - 100);
  const ProgressNote note = with_report(&before, report(400), kNow_s - 50, kNow_s);
  EXPECT_EQ(note.iteration, 400);
  EXPECT_FALSE(note.first);
}

TEST(ProgressTest, WhatIsToldFromTheFutureIsOfNow) {
  EXPECT_EQ(with_report(nullptr, report(1, kNow_s + 1e6), 1000, kNow_s).at_s, kNow_s);
}

}  // namespace
}  // namespace slackline

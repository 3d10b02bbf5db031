// When a queue is overloaded, and how often that is said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/query/overload_events.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "slackline/model/reason.h"

namespace slackline::control {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr double kNow_s = 1.8e9;

class OverloadTest : public ::testing::Test {
 protected:
  // Waits from now on for 4 GPUs, runs an hour, and is predicted to end after this many hours.
  static QueueRow row(const std::string& name, double deadline_h, double finish_h,
                      const std::string& ns = "team-a") {
    QueueRow row;
    row.position = 1;
    row.key = {ns, name};
    row.uid = Uid(name);
    row.kind = TaskKind::kJob;
    TaskIntent intent;
    intent.queue = "research";
    row.intent = std::make_shared<const TaskIntent>(intent);
    row.created_s = kNow_s;
    row.gpus = 4;
    row.deadline_s = kNow_s + deadline_h * kHour_s;
    row.slack_s = (deadline_h - 1) * kHour_s;
    row.start_s = kNow_s + (finish_h - 1) * kHour_s;
    row.finish_s = kNow_s + finish_h * kHour_s;
    return row;
  }

  void look(const std::vector<QueueRow>& rows, double now_s = kNow_s) {
    news.look(queue_loads(rows, {now_s, 8, {{8, kNow_s + kHour_s}}}), now_s, &post);
  }
  std::vector<std::string> told() const {
    std::vector<std::string> told;
    for (const TaskEvent& event : events)
      told.push_back(event.object.str());
    return told;
  }
  std::string gauge(int value) {
    const std::string line = format("slackline_queue_overloaded{{queue=\"research\"}} {}\n", value);
    return metrics.expose().find(line) == std::string::npos ? metrics.expose() : "";
  }

  const std::vector<QueueRow> nobody_in_time = {row("first", 2, 3), row("second", 2, 4),
                                                row("third", 3, 5, "team-b")};
  std::vector<TaskEvent> events;
  bool refuse = false;
  const QueueEvents::Post post = [this](TaskEvent event) {
    if (!refuse) events.push_back(std::move(event));
    return !refuse;
  };
  obs::MetricsRegistry metrics;
  OverloadEvents news{metrics};
};

TEST_F(OverloadTest, IsSaidOnceInEachNamespaceWithFigures) {
  look(nobody_in_time);
  look(nobody_in_time);
  ASSERT_THAT(told(), ElementsAre("team-a/first", "team-b/third"));
  const TaskEvent& event = events.front();
  EXPECT_EQ(event.reason, reason::kOverloaded);
  EXPECT_TRUE(event.warning);
  EXPECT_THAT(event.message, HasSubstr("queue research: all 3 waiting tasks"));
  // 8 GPUs run for an hour yet, three tasks of 4 GPU-hours wait; 8 GPUs for three hours.
  EXPECT_THAT(event.message, HasSubstr("need 20.0 GPU-hours, and the cluster has 24.0"));
  EXPECT_EQ(gauge(1), "");
}

TEST_F(OverloadTest, OneThatIsInTimeIsEnough) {
  look({row("first", 2, 3), row("second", 2, 4), row("third", 9, 5)});
  EXPECT_TRUE(told().empty());
}

TEST_F(OverloadTest, DeadlinesThatNobodyCouldHaveMetAreNoOverload) {
  look({row("first", 0.5, 3), row("second", 0.5, 4), row("third", 0.5, 5)});
  EXPECT_TRUE(told().empty());
}

TEST_F(OverloadTest, WhoWaitsLongCouldHaveMetItsDeadlineOnce) {
  std::vector<QueueRow> rows = {row("first", 0.5, 3), row("second", 0.5, 4)};
  for (QueueRow& row : rows)
    row.created_s -= kHour_s;
  look(rows);
  EXPECT_THAT(told(), ElementsAre("team-a/first"));
}

TEST_F(OverloadTest, WhatStartsBeyondTheHorizonIsLate) {
  std::vector<QueueRow> rows = nobody_in_time;
  for (QueueRow& row : rows) {
    row.start_s.reset();
    row.finish_s.reset();
    row.forecast = reason::kBeyondHorizon;
  }
  look(rows);
  EXPECT_EQ(events.size(), 2U);
  rows[0].forecast = rows[1].forecast = reason::kNotInBook;  // nothing is known of them
  OverloadEvents fresh(metrics);
  events.clear();
  fresh.look(queue_loads(rows, {kNow_s, 8, {}}), kNow_s, &post);
  EXPECT_TRUE(events.empty());
}

TEST_F(OverloadTest, DeadlinesThatHavePassedAreNotJudged) {
  look({row("first", -1, 3), row("second", -1, 4)});
  EXPECT_TRUE(told().empty());
}

TEST_F(OverloadTest, IsSaidAgainAfterItWasWellButNotTooOften) {
  look(nobody_in_time);
  look({row("first", 9, 3)});
  EXPECT_EQ(gauge(0), "");
  look(nobody_in_time, kNow_s + 60);
  EXPECT_EQ(events.size(), 2U) << "ten minutes are not over";
  EXPECT_EQ(gauge(1), "");
  look(nobody_in_time, kNow_s + kOverloadQuiet_s + 1);
  EXPECT_EQ(events.size(), 4U);
  look({}, kNow_s + kOverloadQuiet_s + 2);
  EXPECT_EQ(gauge(0), "") << "nobody waits any more";
}

TEST_F(OverloadTest, AnEventThatIsRefusedIsOfferedAgain) {
  refuse = true;
  look(nobody_in_time);
  refuse = false;
  look(nobody_in_time);
  EXPECT_EQ(events.size(), 2U);
}

TEST_F(OverloadTest, WhoDoesNotLeadShowsItAndTellsNobody) {
  news.look(queue_loads(nobody_in_time, {kNow_s, 8, {}}), kNow_s, nullptr);
  EXPECT_TRUE(events.empty());
  EXPECT_EQ(gauge(1), "");
  look(nobody_in_time);
  EXPECT_EQ(events.size(), 2U) << "it leads now";
}

}  // namespace
}  // namespace slackline::control

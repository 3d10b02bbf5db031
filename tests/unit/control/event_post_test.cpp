// Events on their way to the API server: never in anybody's way, never a flood.
#include "control/plan/event_post.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <iostream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/query/queue_events.h"
#include "slackline/base/text.h"
#include "slackline/model/reason.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"

namespace slackline::control {
namespace {

using ::testing::HasSubstr;

TaskEvent an_event(const std::string& job, std::string_view reason,
                   const std::string& message = "") {
  TaskEvent event;
  event.kind = "Job";
  event.object = {"default", job};
  event.uid = Uid("uid:" + job);
  event.reason = reason;
  event.message = message;
  return event;
}

class EventPostTest : public testing::Test {
 protected:
  EventPostTest() {
    writer_.on_post = [this](const TaskEvent& event) {
      posted_.push_back(event);
      return Status();
    };
  }

  test::FakeWriter writer_;
  obs::MetricsRegistry metrics_;
  test::FakeClock clock_;
  std::vector<TaskEvent> posted_;
  EventPost post_{writer_, metrics_, clock_};
};

TEST_F(EventPostTest, TheSameReasonAgainIsOneEventThatCounts) {
  EXPECT_TRUE(post_.add(an_event("a", reason::kNodesLost, "first")));
  EXPECT_TRUE(post_.post_next());
  clock_.advance(40);
  EXPECT_TRUE(post_.add(an_event("a", reason::kNodesLost, "second")));
  EXPECT_TRUE(post_.post_next());
  ASSERT_EQ(posted_.size(), 2U);
  EXPECT_EQ(posted_[1].count, 2);
  EXPECT_EQ(posted_[1].last_s - posted_[1].first_s, 40);
  EXPECT_EQ(posted_[1].message, "second");
}

TEST_F(EventPostTest, WhatIsNotSentYetIsToldOnceWithTheNewestWords) {
  for (int i = 0; i < 5; ++i)
    EXPECT_TRUE(post_.add(an_event("a", reason::kDeviated, std::to_string(i))));
  EXPECT_TRUE(post_.add(an_event("b", reason::kQueued)));
  while (post_.post_next()) {
  }
  ASSERT_EQ(posted_.size(), 2U);
  EXPECT_EQ(posted_[0].message, "4");
  EXPECT_EQ(posted_[0].count, 5);
  EXPECT_EQ(posted_[1].object.name, "b");
}

TEST_F(EventPostTest, NeitherOneObjectNorAllOfThemFlood) {
  for (int i = 0; i < static_cast<int>(EventPost::kObjectBurst); ++i)
    EXPECT_TRUE(post_.add(an_event("a", reason::kDeviated)));
  EXPECT_FALSE(post_.add(an_event("a", reason::kDeviated)));
  clock_.advance(EventPost::kObjectRefill_s);
  EXPECT_TRUE(post_.add(an_event("a", reason::kDeviated)));
  int taken = 0;
  for (int i = 0; i < 1000; ++i)
    taken += post_.add(an_event("job-" + std::to_string(i), reason::kQueued)) ? 1 : 0;
  EXPECT_LE(taken, static_cast<int>(EventPost::kBurst));
  EXPECT_GE(taken, static_cast<int>(EventPost::kBurst) - 2);
  EXPECT_THAT(metrics_.expose(),
              HasSubstr(R"(slackline_events_total{reason="Queued",result="refused"})"));
}

TEST_F(EventPostTest, AnApiServerThatHangsMakesNobodyWait) {
  std::promise<void> hangs;
  writer_.on_post = [&](const TaskEvent&) {
    hangs.get_future().wait();
    return Status(fail(ErrorCode::kTimeout, "no answer"));
  };
  post_.start();
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i)
    post_.add(an_event("job-" + std::to_string(i), reason::kPlanned));
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(1));
  post_.stop();
  hangs.set_value();
  post_.join();
}

QueueRow a_row(const std::string& name, int position, double finish_s) {
  QueueRow row;
  row.key = {"default", name};
  row.uid = Uid("uid:" + name);
  row.kind = TaskKind::kJob;
  row.intent = std::make_shared<const TaskIntent>();
  row.state = position > 0 ? TaskState::kWaiting : TaskState::kRunning;
  row.position = position;
  row.deadline_s = 1000;
  row.finish_s = finish_s;
  return row;
}

TEST(QueueEvents, TellsOncePerComingAndOncePerRisk) {
  QueueEvents events;
  std::vector<std::string> told;
  bool open = true;
  const auto post = [&](const TaskEvent& event) {
    if (open) told.push_back(event.reason);
    return open;
  };
  events.post({a_row("a", 1, 900)}, 0, {}, post);
  events.post({a_row("a", 1, 900)}, 0, {}, post);
  EXPECT_EQ(told, (std::vector<std::string>{"Queued"}));
  events.post({a_row("a", 1, 1100)}, 0, {}, post);
  events.post({a_row("a", 1, 1200)}, 0, {}, post);
  EXPECT_EQ(told, (std::vector<std::string>{"Queued", "DeadlineAtRisk"}));
  events.post({a_row("a", 1, 900)}, 0, {}, post);
  open = false;
  events.post({a_row("a", 1, 1100)}, 0, {}, post);
  open = true;
  events.post({a_row("a", 1, 1100)}, 0, {}, post);
  EXPECT_EQ(told.size(), 3U) << "what was refused is offered again";
  events.post({a_row("a", 0, 900)}, 0, {}, post);
  events.post({a_row("a", 1, 900)}, 0, {}, post);
  EXPECT_EQ(told.back(), "Queued") << "it has come back into the queue";
}

TEST(QueueEvents, WhatATimeLimitEndsIsNotCalledDone) {
  QueueEvents events;
  std::vector<std::string> told;
  QueueRow row = a_row("a", 1, 900);
  row.chance = 0;
  row.cut_short = true;
  events.post({row}, 0, {}, [&](const TaskEvent& event) {
    told.push_back(event.message);
    return true;
  });
  ASSERT_EQ(told.size(), 2U);
  EXPECT_NE(told[0].find("cut short by its time limit 00:15"), std::string::npos) << told[0];
  EXPECT_EQ(
      told[1],
      "predicted to be ended 1970-01-01T00:15:00Z by its time limit, before its work is done");
}

TEST(QueueEvents, OfWhatCannotStartItSaysWhyAndNoTime) {
  QueueEvents events;
  std::vector<std::string> told;
  QueueRow row = a_row("a", 1, 0);
  row.finish_s.reset();
  row.blocked = true;
  row.reason = reason::kNoNodeFits;
  row.forecast = reason::kNever;
  row.chance = 0;
  events.post({row}, 0, {}, [&](const TaskEvent& event) {
    told.push_back(event.message);
    return true;
  });
  ASSERT_EQ(told.size(), 2U);
  EXPECT_EQ(told[1],
            "will miss its deadline 1970-01-01T00:16:40Z: it cannot start unless the task or the "
            "cluster changes; no usable nodes could take its pods, even empty (NoNodeFits)");
}

TEST(QueueEvents, TellsAgainWhereTheStartHasMoved) {
  QueueEvents events;
  std::vector<std::string> told;
  const auto post = [&](const TaskEvent& event) {
    told.push_back(event.message);
    return true;
  };
  const auto row = [](double start_s) {
    QueueRow waits = a_row("a", 4, start_s + 7200);
    waits.start_s = start_s;
    waits.start_p90_s = start_s + 600;
    waits.finish_p90_s = start_s + 8000;
    waits.deadline_s = 90000;
    waits.chance = 0.914;
    waits.gpus = 8;
    TaskIntent intent;
    intent.gpu_types = {GpuType("A100"), GpuType("H100")};
    waits.intent = std::make_shared<const TaskIntent>(intent);
    waits.reason = reason::kWaitsItsTurn;
    return waits;
  };
  constexpr double kWait_s = 10 * 3600;
  events.post({row(kWait_s)}, 0, {}, post);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0],
            "starts 10:00 (by 10:10), done 12:00 (by 12:13), due 1970-01-02 01:00, in time 91 %, "
            "behind 3 tasks, waits for 8 A100 or H100 (WaitsItsTurn); class normal, queue default; "
            "times are UTC");
  events.post({row(kWait_s + 7200)}, QueueEvents::kAgainAfter_s - 1, {}, post);
  EXPECT_EQ(told.size(), 1U) << "too soon";
  events.post({row(kWait_s + 3500)}, QueueEvents::kAgainAfter_s, {}, post);
  EXPECT_EQ(told.size(), 1U) << "it moved by less than a tenth of the wait";
  events.post({row(kWait_s + 3700)}, QueueEvents::kAgainAfter_s, {}, post);
  ASSERT_EQ(told.size(), 2U);
  EXPECT_THAT(told[1], HasSubstr("starts 11:01"));
  QueueRow unknown = row(kWait_s);
  unknown.start_s = unknown.finish_s = unknown.chance = std::nullopt;
  unknown.forecast = reason::kBeyondHorizon;
  events.post({unknown}, 2 * QueueEvents::kAgainAfter_s, {}, post);
  ASSERT_EQ(told.size(), 3U);
  EXPECT_THAT(told[2], HasSubstr("not predicted: BeyondHorizon, due 1970-01-02 01:00, behind 3"));
}

TEST_F(EventPostTest, AForecastIsKeptOnItsJob) {
  TaskEvent event = an_event("job", reason::kQueued, "starts 10:00");
  post_.add(event);
  EXPECT_TRUE(post_.post_next());
  EXPECT_TRUE(writer_.forecasts.empty()) << "it is none";
  event.is_forecast = true;
  post_.add(event);
  EXPECT_TRUE(post_.post_next());
  ASSERT_EQ(writer_.forecasts.size(), 1U);
  EXPECT_EQ(writer_.forecasts[0].message, "starts 10:00");
  EXPECT_THAT(metrics_.expose(),
              HasSubstr(R"(slackline_forecast_notes_total{result="written"} 1)"));
  writer_.on_note = [] { return Status(fail(ErrorCode::kConflict, "released")); };
  post_.add(event);
  EXPECT_TRUE(post_.post_next());
  EXPECT_THAT(metrics_.expose(), HasSubstr(R"(slackline_forecast_notes_total{result="failed"} 1)"));
}

TEST(QueueEvents, AGangIsToldOnTheObjectThatMakesIt) {
  std::vector<TaskEvent> told;
  const auto post = [&](TaskEvent event) {
    told.push_back(std::move(event));
    return true;
  };
  QueueRow row = a_row("llm", 1, 900);
  row.kind = TaskKind::kGang;
  OwnerGang gang{"PyTorchJob", "llm", row.uid, ""};
  gang.api_version = "kubeflow.org/v1";
  row.gang = std::make_shared<const OwnerGang>(gang);
  QueueEvents().post({row}, 0, {}, post);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].kind, "PyTorchJob");
  EXPECT_EQ(told[0].api_version, "kubeflow.org/v1");
  EXPECT_EQ(told[0].object.str(), "default/llm");
  EXPECT_EQ(told[0].uid, row.uid);
}

TEST(QueueEvents, AForecastIsOfAJobAndWhereItIsAskedFor) {
  std::vector<bool> kept;
  const auto post = [&](const TaskEvent& event) {
    kept.push_back(event.is_forecast);
    return true;
  };
  std::vector<QueueRow> rows = {a_row("a", 1, 900), a_row("b", 2, 900)};
  rows[1].kind = TaskKind::kPod;
  QueueEvents().post(rows, 0, {.notes = true}, post);
  QueueEvents().post(rows, 0, {}, post);
  EXPECT_EQ(kept, (std::vector<bool>{true, false, false, false}));
}

TEST(QueueEvents, WhatIsSoonHasItsSeconds) {
  std::vector<std::string> told;
  const auto post = [&](const TaskEvent& event) {
    told.push_back(event.message);
    return true;
  };
  QueueRow row = a_row("a", 1, 400);
  row.start_s = 65;
  row.start_p90_s = 299;
  row.finish_p90_s = 3600;
  row.deadline_s.reset();
  QueueEvents().post({row}, 0, {}, post);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0],
              testing::StartsWith("starts 00:01:05 (by 00:04:59), done 00:06 (by 01:00), "));
}

TEST(QueueEvents, WhoWasStoppedIsToldOnceItsPodsHaveEnded) {
  QueueEvents events;
  int told = 0;
  const auto post = [&](const TaskEvent&) { return ++told > 0; };
  QueueRow row = a_row("a", 1, 900);
  row.reason = reason::kPodsEnding;
  events.post({row}, 0, {}, post);
  EXPECT_EQ(told, 0) << "nothing is predicted yet";
  row.reason = reason::kWaitsItsTurn;
  events.post({row}, 1, {}, post);
  EXPECT_EQ(told, 1);
}

TEST(QueueEvents, WhereNobodyPlansItIsSaid) {
  std::vector<std::string> told;
  const auto post = [&](const TaskEvent& event) {
    told.push_back(event.message);
    return true;
  };
  QueueEvents().post({a_row("a", 1, 1100)}, 0, {.shadow = true}, post);
  ASSERT_EQ(told.size(), 2U);
  for (const std::string& message : told)
    EXPECT_THAT(message, testing::StartsWith("if Slackline planned: ")) << message;
}

TEST(QueueEvents, WhoWasNeverToldComesBeforeWhoseStartMoves) {
  QueueEvents events;
  std::vector<std::string> told;
  const auto post = [&](const TaskEvent& event) {
    told.push_back(event.object.name);
    return true;
  };
  std::vector<QueueRow> rows;
  for (int i = 0; i < 60; ++i) {
    rows.push_back(a_row(format("task-{}", i), i + 1, 90000));
    rows.back().start_s = 10000;
    rows.back().deadline_s.reset();
  }
  events.post(rows, 1, {}, post);
  EXPECT_EQ(told.size(), static_cast<std::size_t>(QueueEvents::kWriteBurst));
  for (QueueRow& row : rows)
    row.start_s = 50000;
  told.clear();
  events.post(rows, 401, {}, post);
  ASSERT_EQ(told.size(), static_cast<std::size_t>(QueueEvents::kWriteBurst));
  EXPECT_EQ(told.front(), "task-50");
  EXPECT_EQ(told[10], "task-0");
}

// What the API server is asked to write where a thousand Jobs wait and every look moves every
// start, for an hour.
TEST_F(EventPostTest, AThousandJobsThatWaitCostFiveWritesASecond) {
  constexpr int kJobs = 1000;
  constexpr double kHour_s = 3600;
  constexpr double kEvery_s = 2.5;  // a look
  std::vector<QueueRow> rows;
  for (int i = 0; i < kJobs; ++i) {
    rows.push_back(a_row(format("job-{}", i), i + 1, 0));
    rows.back().finish_s.reset();
    rows.back().deadline_s.reset();
  }
  std::map<std::string, double> last_s;  // by Job: when its annotation was written
  double shortest_s = kHour_s;
  writer_.on_note = [&] {
    const double now_s = clock_.wall_s();
    const auto [at, first] = last_s.emplace(writer_.forecasts.back().object.name, now_s);
    if (!first) shortest_s = std::min(shortest_s, now_s - at->second);
    at->second = now_s;
    return Status();
  };
  QueueEvents events;
  double all_told_s = 0;
  std::size_t most = 0;  // between two looks
  const double began_s = clock_.wall_s();
  for (int look = 0; look * kEvery_s < kHour_s; ++look) {
    const std::size_t before = posted_.size() + writer_.forecasts.size();
    for (QueueRow& row : rows)
      row.start_s = clock_.wall_s() + 1e5 + (look % 2) * 5e4;
    events.post(rows, clock_.wall_s(), {.notes = true},
                [&](TaskEvent event) { return post_.add(std::move(event)); });
    while (post_.post_next()) {
    }
    if (last_s.size() == kJobs && all_told_s == 0) all_told_s = clock_.wall_s() - began_s;
    most = std::max(most, posted_.size() + writer_.forecasts.size() - before);
    clock_.advance(kEvery_s);
  }
  const double writes = static_cast<double>(posted_.size() + writer_.forecasts.size());
  std::cout << format(
      "{} writes in an hour: {:.2f} a second, at most {} at once; all Jobs told "
      "after {:.0f} s, one again after {:.0f} s at least\n",
      writes, writes / kHour_s, most, all_told_s, shortest_s);
  EXPECT_LE(writes, QueueEvents::kWriteBurst + QueueEvents::kWrites_per_s * kHour_s);
  EXPECT_GE(writes, 0.9 * QueueEvents::kWrites_per_s * kHour_s)
      << "it is the bound that is measured";
  EXPECT_LE(most, static_cast<std::size_t>(QueueEvents::kWriteBurst));
  EXPECT_GE(shortest_s, QueueEvents::kAgainAfter_s);
  EXPECT_GT(all_told_s, 0);
  EXPECT_LE(all_told_s, 2 * kJobs / QueueEvents::kWrites_per_s) << "nobody is left out";
}

}  // namespace
}  // namespace slackline::control

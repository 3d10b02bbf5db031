// Reports of progress: when they are written, and how many a task may send.
#include "control/learn/progress_reports.h"

#include <gtest/gtest.h>

#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"

namespace slackline::control {
namespace {

using test::a_job;

class ProgressReportsTest : public testing::Test {
 protected:
  ProgressReportsTest() { show(running()); }

  static Job running() {
    return a_job("team/train").gpus(1).managed().started(1.8e9 - 600).build();
  }

  void show(const Job& job) {
    ClusterSnapshot snapshot = test::a_cluster().build();
    snapshot.jobs = {std::make_shared<const Job>(job)};
    source_.show(std::move(snapshot));
  }

  ErrorCode tell(std::int64_t iteration) {
    const auto noted = reports_.take({"team", "train"}, {iteration, 1000, {}, {}, {}});
    return noted ? ErrorCode{} : noted.error().code;
  }

  // What was written after this time.
  std::vector<std::int64_t> written_after(double seconds) {
    clock_.advance(seconds);
    writer_.noted.clear();
    reports_.write_due();
    std::vector<std::int64_t> iterations;
    for (const auto& each : writer_.noted)
      iterations.push_back(each.note.iteration);
    return iterations;
  }

  using Written = std::vector<std::int64_t>;

  test::FakeClock clock_;
  test::FakeSource source_{test::a_cluster().build()};
  test::FakeWriter writer_;
  obs::MetricsRegistry metrics_;
  ProgressReports reports_{source_, &writer_, metrics_, clock_};
};

TEST_F(ProgressReportsTest, TheFirstIsWrittenAtOnceAndTheLastOfEachMinute) {
  tell(10);
  EXPECT_EQ(written_after(1), Written{10});
  tell(20);
  EXPECT_EQ(written_after(10), Written{});
  tell(30);
  EXPECT_EQ(written_after(49), Written{});
  EXPECT_EQ(written_after(1), Written{30});
  EXPECT_EQ(written_after(600), Written{}) << "nothing new";
}

TEST_F(ProgressReportsTest, WhatAnotherReplicaWroteALittleAgoIsFreshEnough) {
  Job job = running();
  job.progress = std::make_shared<const ProgressNote>(ProgressNote{50, 1000, clock_.wall_s() - 5});
  show(job);
  tell(40);
  EXPECT_EQ(written_after(1), Written{}) << "it would fall";
  tell(60);
  EXPECT_EQ(written_after(1), Written{});
  EXPECT_EQ(written_after(60), Written{60});
}

TEST_F(ProgressReportsTest, WhatAStoppedJobDidLastIsWrittenAtOnce) {
  tell(10);
  EXPECT_EQ(written_after(1), Written{10});
  tell(20);
  Job stopped = running();
  stopped.suspended = stopped.suspended_by_us = true;
  stopped.started_s.reset();
  show(stopped);
  tell(25);
  EXPECT_EQ(written_after(1), Written{25});
}

TEST_F(ProgressReportsTest, WhatAJobThatWaitsTellsIsWrittenOnceAMinute) {
  Job stopped = running();
  stopped.suspended = stopped.suspended_by_us = true;
  stopped.terminating = 1;
  show(stopped);
  tell(10);
  EXPECT_EQ(written_after(1), Written{10});
  tell(20);
  EXPECT_EQ(written_after(1), Written{20}) << "its last pod still ends";
  stopped.terminating = 0;
  show(stopped);
  tell(30);
  EXPECT_EQ(written_after(1), Written{30}) << "what it told last";
  tell(31);
  EXPECT_EQ(written_after(1), Written{}) << "nobody works on it";
  EXPECT_EQ(written_after(60), Written{31});
}

TEST_F(ProgressReportsTest, AWriteThatFailsIsTriedAgain) {
  tell(10);
  writer_.on_note = [] { return fail(ErrorCode::kUnavailable, "no route"); };
  EXPECT_EQ(written_after(1), Written{10});
  writer_.on_note = [] { return Status(); };
  EXPECT_EQ(written_after(1), Written{});
  EXPECT_EQ(written_after(5), Written{10});
  EXPECT_EQ(written_after(600), Written{});
}

TEST_F(ProgressReportsTest, WhoReportsTooOftenIsAskedToWait) {
  for (int i = 0; i < ProgressReports::kBurst; ++i)
    EXPECT_EQ(tell(i), ErrorCode{});
  EXPECT_EQ(tell(100), ErrorCode::kResourceExhausted);
  clock_.advance(ProgressReports::kReportEvery_s);
  EXPECT_EQ(tell(100), ErrorCode{});
}

TEST_F(ProgressReportsTest, OnlyJobsOfOursThatRunMayReport) {
  EXPECT_EQ(reports_.take({"team", "other"}, {1, 2, {}, {}, {}}).error().code,
            ErrorCode::kNotFound);
  show(a_job("team/train").gpus(1).managed().finished().build());
  EXPECT_EQ(tell(1), ErrorCode::kNotFound);
  show(a_job("team/train").gpus(1).build());
  EXPECT_EQ(tell(1), ErrorCode::kInvalidArgument);
}

TEST_F(ProgressReportsTest, APodThatReplacesAnotherMayBeginEarlier) {
  tell(800);
  clock_.advance(60);
  tell(100);
  EXPECT_EQ(written_after(0), Written{800}) << "its pod is the same";
  clock_.advance(60);
  ClusterSnapshot snapshot = test::a_cluster().build();
  snapshot.jobs = {std::make_shared<const Job>(running())};
  snapshot.unbound = {std::make_shared<const Pod>(
      test::a_pod("team/train-2").of_job("train").started(clock_.wall_s()).build())};
  source_.show(std::move(snapshot));
  clock_.advance(60);
  tell(100);
  EXPECT_EQ(written_after(0), Written{100});
}

TEST_F(ProgressReportsTest, AnotherJobOfThatNameBeginsAnew) {
  tell(500);
  Job next = running();
  next.uid = Uid("another");
  show(next);
  EXPECT_EQ(written_after(1), Written{}) << "the first one is gone";
  tell(3);
  EXPECT_EQ(written_after(1), Written{3});
  EXPECT_EQ(writer_.noted.front().uid, Uid("another"));
}

}  // namespace
}  // namespace slackline::control

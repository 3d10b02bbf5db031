// What the planner decides, turn by turn: only with the Lease, on own writes first, and never in a
// hot loop.
#include "control/plan/planner.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "support/cluster_builder.h"
#include "support/planner_fixture.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using ::testing::HasSubstr;

class PlannerTest : public test::PlannerFixture {
 protected:
  PlannerTest() {
    source_.show(a_cluster()
                     .with(a_node("n1"))
                     .with(a_job("a").gpus(4).waiting())
                     .with(a_job("b").gpus(4).waiting())
                     .build());
  }
};

TEST_F(PlannerTest, WritesNothingWithoutTheLease) {
  for (int i = 0; i < 20; ++i)
    go_on();
  EXPECT_TRUE(written_.empty());
}

TEST_F(PlannerTest, ReleasesInItsTermAndPlansOnItsOwnWrites) {
  term_ = 5;
  go_on();
  ASSERT_EQ(written_.size(), 1U);
  EXPECT_TRUE(written_[0].is<ReleaseJob>());
  EXPECT_EQ(written_[0].plan()->epoch, 5);
  for (int i = 0; i < 5; ++i) {  // the snapshot never shows it, yet the GPUs are not given twice
    clock_.advance(0.3);
    go_on();
  }
  EXPECT_EQ(written_.size(), 1U);
}

// Somebody has deleted the Lease: terms begin again.
TEST_F(PlannerTest, ItsPlansAreLaterThanThoseThatAreThere) {
  Job runs = a_job("runs").gpus(1).managed().planned({"n1"}, "p57-3").build();
  auto plan = std::make_shared<PlanNote>(*runs.plan);
  plan->epoch = 57;
  runs.plan = plan;
  source_.show(a_cluster().with(a_node("n1")).add(runs).with(a_job("b").gpus(1).waiting()).build());
  term_ = 1;
  go_on();
  ASSERT_FALSE(written_.empty());
  EXPECT_EQ(written_.back().plan()->epoch, 58);
}

// A write is planned on from the moment in which it is decided.
TEST_F(PlannerTest, GivesNothingTwiceBeforeTheAnswer) {
  term_ = 1;
  planner_.turn(clock_.steady_s());
  planner_.turn(clock_.steady_s());
  EXPECT_TRUE(actuator_.send_next());
  EXPECT_FALSE(actuator_.send_next());
}

// Whoever leads next decides again what was not sent.
TEST_F(PlannerTest, WhatWasNotSentIsForgottenWithTheTerm) {
  term_ = 1;
  planner_.turn(clock_.steady_s());
  term_.reset();
  planner_.turn(clock_.steady_s());
  EXPECT_FALSE(actuator_.send_next());
  term_ = 2;
  go_on();
  ASSERT_EQ(written_.size(), 1U);
  EXPECT_EQ(written_[0].plan()->epoch, 2);
}

// On a cluster where nothing else happens, too.
TEST_F(PlannerTest, AWriteThatNobodyAnsweredIsMadeAgainOnceNothingShowsIt) {
  refused_ = ErrorCode::kTimeout;
  term_ = 1;
  go_on();
  ASSERT_EQ(written_.size(), 1U);
  clock_.advance(5);
  go_on();
  EXPECT_EQ(written_.size(), 1U) << "it may have happened";
  refused_.reset();
  clock_.advance(6);
  planner_.turn();
  send();
  ASSERT_EQ(written_.size(), 2U);
  EXPECT_EQ(written_[1].target.key.name, written_[0].target.key.name);
}

// F29: the other Job waits for GPUs that are held; a hold is counted on the steady clock.
TEST_F(PlannerTest, ClockJumpsReleaseNothingTwiceAndEndNoHold) {
  term_ = 1;
  go_on();
  ASSERT_EQ(written_.size(), 1U);
  constexpr double kOneHour_s = 3600;
  constexpr double kTenYears_s = 315'360'000;
  for (const double jump_s :
       {kOneHour_s, -2 * kOneHour_s, kOneHour_s, kTenYears_s, -2 * kTenYears_s}) {
    clock_.jump_wall(jump_s);
    for (int i = 0; i < 3; ++i) {
      clock_.advance(0.3);
      go_on();
    }
    EXPECT_EQ(written_.size(), 1U) << jump_s;
  }
}

TEST_F(PlannerTest, WritesNothingOnACacheThatCannotBeBelieved) {
  source_.be({.synced = true, .age_s = 999, .stale = true, .detail = "silent"});
  term_ = 1;
  go_on();
  EXPECT_TRUE(written_.empty());
}

TEST_F(PlannerTest, WritesNothingBeforeItKnowsWhatTheServerTakes) {
  server_minor_.reset();
  term_ = 1;
  go_on();
  EXPECT_TRUE(written_.empty());
  server_minor_ = 35;
  go_on();
  EXPECT_EQ(written_.size(), 1U);
}

TEST_F(PlannerTest, EveryWriteSaysOnWhatItWasDecided) {
  term_ = 1;
  go_on();
  ASSERT_EQ(written_.size(), 1U);
  const auto& stamp = written_[0].decision.stamp;
  ASSERT_NE(stamp, nullptr);
  EXPECT_EQ(stamp->policy, "savable,headroom=0,calm=0");
  EXPECT_EQ(stamp->snapshot_version, 1U);
  EXPECT_FALSE(stamp->options_hash.empty());
}

TEST_F(PlannerTest, ARefusedWriteRestsBeforeItComesAgain) {
  refused_ = ErrorCode::kResourceExhausted;
  term_ = 1;
  for (int i = 0; i < 30; ++i) {
    go_on();
    clock_.advance(0.01);
  }
  EXPECT_EQ(written_.size(), 2U) << "at once, and after 0.2 s";
}

// By a policy of the cluster that came after the Job: it kept its room for ever, and nobody
// started.
TEST_F(PlannerTest, WhoseReleaseIsRefusedWaitsAndOthersHaveItsRoom) {
  std::map<std::string, int> tried;
  writer_.on_write = [&](const OwnWrite& write) {
    ++tried[write.target.key.name];
    if (write.target.key.name == "a") return Result<std::string>(fail(ErrorCode::kForbidden, "no"));
    return Result<std::string>("3000");
  };
  term_ = 1;
  for (int i = 0; i < 60; ++i) {
    go_on();
    clock_.advance(0.5);
  }
  EXPECT_EQ(tried["b"], 1);
  EXPECT_LE(tried["a"], 8) << "for ten seconds, with growing rests";
  const Job& refused = *source_.snapshot()->find_job("default", "a");
  const auto view = planner_.view().get();
  ASSERT_TRUE(view->backoffs.contains(refused.uid));
  EXPECT_EQ(view->backoffs.at(refused.uid).reason, reason::kReleaseRefused);
  EXPECT_TRUE(view->stop_book->unreleased.contains(refused.uid)) << "nobody is stopped for it";
}

TEST_F(PlannerTest, ARefusedReleaseIsTriedAgainAfterHalfAMinute) {
  refused_ = ErrorCode::kInvalidArgument;
  term_ = 1;
  const auto pass = [&](int seconds) {
    for (int i = 0; i < 2 * seconds; ++i) {
      go_on();
      clock_.advance(0.5);
    }
  };
  pass(30);  // one after the other
  const std::size_t before = written_.size();
  pass(10);
  EXPECT_EQ(written_.size(), before);
  refused_.reset();
  clock_.advance(31);
  planner_.turn();  // nothing has changed
  send();
  EXPECT_EQ(written_.size(), before + 1);
}

TEST_F(PlannerTest, AShortQueueFollowsEveryChange) {
  term_ = 1;
  for (int i = 0; i < 40; ++i) {
    clock_.advance(0.01);
    go_on();
  }
  EXPECT_THAT(metrics_.expose(), HasSubstr("slackline_plan_duration_seconds_count 40"));
}

TEST_F(PlannerTest, WithoutAChangeItLooksEverySecondAndDoesNotPlan) {
  term_ = 1;
  go_on();
  const NextTurn next = planner_.turn();
  EXPECT_EQ(next.at_latest_s, clock_.steady_s() + 1);
  EXPECT_LE(next.if_woken_s, clock_.steady_s()) << "turns that took no time owe none";
  EXPECT_THAT(metrics_.expose(), HasSubstr("slackline_plan_duration_seconds_count 1"));
}

TEST_F(PlannerTest, AfterALongTurnAFloodOfChangesWaits) {
  term_ = 1;
  go_on();
  turn_s_ = 0.4;
  const NextTurn next = planner_.turn(clock_.steady_s());
  EXPECT_GT(next.if_woken_s, clock_.steady_s());
  EXPECT_LE(next.if_woken_s, clock_.steady_s() + kTurns.most_rest_s);
}

TEST_F(PlannerTest, TellsHowLongTheQueueIs) {
  term_ = 1;
  go_on();
  go_on();
  EXPECT_THAT(metrics_.expose(),
              HasSubstr(R"(slackline_queue_length{class="normal",queue="default"} 1)"));
}

// No event says that its controller is away.
TEST_F(PlannerTest, ANewJobWhoseControllerIsAwayDoesNotKeepItsPlaceForEver) {
  const double now_s = clock_.wall_s();
  source_.show(a_cluster()
                   .with(a_node("n1"))
                   .with(a_job("a").gpus(4).waiting().not_halted().created(now_s))
                   .with(a_job("b").gpus(4).waiting().created(now_s))
                   .build());
  term_ = 1;
  go_on();
  EXPECT_TRUE(written_.empty());
  clock_.advance(11);
  planner_.turn();
  send();
  ASSERT_EQ(written_.size(), 1U);
  EXPECT_EQ(written_[0].target.key.name, "b");
}

// Answers are of a queue that obeys it as the planner's own does.
TEST_F(PlannerTest, WhatKubeSchedulerRefusedIsPublishedWithItsWordsWhileItLeads) {
  Pod pod = test::a_pod("a-0").of_job("a").gpus(4).managed().nominated("n1").build();
  pod.unschedulable = "0/1 nodes are available";
  auto cluster = a_cluster();
  cluster.with(a_node("n1")).with(a_job("a").gpus(4).managed().planned({"n1"}).resumed()).add(pod);
  source_.show(cluster.build());
  term_ = 1;
  go_on();
  EXPECT_TRUE(planner_.view().get()->refused.empty());
  clock_.advance(core::kUnboundAfter_s + 1);
  go_on();
  go_on();
  const core::RefusedNodes refused = planner_.view().get()->refused;
  ASSERT_TRUE(refused.contains(test::job_uid("a")));
  const core::Refusal& refusal = refused.at(test::job_uid("a")).at(NodeName("n1"));
  EXPECT_EQ(refusal.said, "0/1 nodes are available");
  EXPECT_EQ(refusal.until_s, clock_.steady_s() + core::kRefusedFor_s);
  term_.reset();
  go_on();
  EXPECT_TRUE(planner_.view().get()->refused.empty());
}

TEST_F(PlannerTest, ALongTurnIsStoppedInside) {
  constexpr int kJobs = 3000;
  auto cluster = a_cluster().with(a_node("n1"));
  for (int i = 0; i < kJobs; ++i)
    cluster.with(a_job(format("j{}", i)).gpus(1).waiting());
  source_.show(cluster.build());
  term_ = 1;
  int asked = 0;
  planner_.turn(clock_.steady_s(), [&] { return ++asked > 100; });
  EXPECT_FALSE(actuator_.send_next());
  EXPECT_LT(asked, kJobs);
  EXPECT_THAT(metrics_.expose(), HasSubstr("slackline_plan_duration_seconds_count 0"));
}

}  // namespace
}  // namespace slackline::control

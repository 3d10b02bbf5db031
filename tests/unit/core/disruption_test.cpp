// Jobs from which others take pods wait in the queue again, with the work that is left: rule 10 of
// docs/RELIABILITY.md, in a small world.
#include <gtest/gtest.h>

#include "slackline/base/duration.h"
#include "slackline/core/cluster/disrupted_jobs.h"
#include "slackline/core/handover/hand_over.h"
#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_job;
using test::a_node;
using test::HandOverWorld;
using test::JobBuilder;
using test::WorldPlanner;

constexpr double kRunTime_s = 86400;

JobBuilder day_job(const std::string& name) {
  JobBuilder job = a_job(name).gpus(8).waiting();
  job.intent().expected_duration_s = kRunTime_s;
  job.intent().checkpoint_interval_s = 600;
  return job;
}

class DisruptionTest : public testing::Test {
 protected:
  void run_on(const std::vector<std::string>& nodes, JobBuilder job) {
    for (const std::string& node : nodes)
      world_.add(a_node(node).of("", 8));
    world_.add(job.created(world_.now_s()));
    ASSERT_TRUE(planner_.settle(world_));
    ASSERT_EQ(world_.bound(), static_cast<int>(nodes.size()));
    world_.pass(3700);
    world_.performed.clear();
  }

  std::int64_t stops() const { return world_.count_of<StopJob>(); }
  const PreemptionNote& note(const std::string& job) {
    EXPECT_TRUE(world_.job(job).preemptions);
    return *world_.job(job).preemptions;
  }

  HandOverWorld world_;
  WorldPlanner planner_{1};
};

TEST_F(DisruptionTest, WhoIsEvictedComesBackWithTheWorkThatIsLeft) {
  run_on({"n1"}, day_job("train"));
  world_.disrupt("train-0", DisruptionKind::kEvictionByEvictionApi, /*at_once=*/true);
  world_.pass(30);  // nobody looked; the Job controller has made another pod
  world_.make_pods();
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 1);
  EXPECT_EQ(note("train").count, 1);
  EXPECT_EQ(note("train").disruptions, 1);
  EXPECT_EQ(note("train").by, "EvictionByEvictionAPI");
  EXPECT_NEAR(note("train").left, 1 - 3600 / kRunTime_s, 1e-6);
  EXPECT_NEAR(note("train").lost_gpu_s, 8 * 100, 1) << "until the eviction, not until it was seen";
  EXPECT_EQ(world_.bound("train"), 1) << "there is room: it runs again";
}

// Who replaces it within half a minute of the release looks like one of its first pods.
TEST_F(DisruptionTest, WhoIsEvictedSoonAfterItsStartKeepsItsWorkToo) {
  JobBuilder job = day_job("train");
  job.intent().checkpoint_interval_s = 2;
  world_.add(a_node("n1").of("", 8));
  world_.add(job.created(world_.now_s()));
  ASSERT_TRUE(planner_.settle(world_));
  world_.pass(20);
  world_.disrupt("train-0", DisruptionKind::kEvictionByEvictionApi, /*at_once=*/true);
  world_.make_pods();
  ASSERT_TRUE(planner_.settle(world_));
  ASSERT_EQ(stops(), 1);
  EXPECT_LT(note("train").left, 1 - 15 / kRunTime_s);
}

// Pods are made before startTime is written.
TEST_F(DisruptionTest, APodThatIsOlderThanTheStartTimeOfItsRunCounts) {
  run_on({"n1"}, day_job("train"));
  const double made_s = world_.pods().begin()->second.created_s;
  world_.job("train").started_s = made_s + 2;
  world_.disrupt("train-0", DisruptionKind::kEvictionByEvictionApi, /*at_once=*/true);
  planner_.act(world_);
  EXPECT_EQ(stops(), 1);
  const Pod pod = test::a_pod("train-0").of_job("train").created(made_s).build();
  auto job = world_.job("train");
  job.started_s = made_s + 40;
  EXPECT_FALSE(is_of_present_run(pod, job)) << "of the run before";
  job.started_s = made_s + 2;
  EXPECT_FALSE(is_of_present_run(pod, job)) << "made before the stop";
}

// The taint came in the second of the start: the pod that still ends looks like one of the new run.
TEST_F(DisruptionTest, WhatStoppedItStopsItOnceThoughItStartsAgainInTheSameSecond) {
  const double start_s = world_.now_s();
  const Job job = day_job("train").resumed().started(start_s).stopped(1, start_s + 0.3).build();
  Job runs = job;
  runs.suspended = runs.suspended_by_us = false;
  const auto disrupted_at = [&](double at_s) {
    Pod pod = test::a_pod("train-0").of_job("train").on("n1").created(start_s).build();
    pod.disruption = PodDisruption{DisruptionKind::kDeletionByTaintManager, at_s};
    pod.phase = PodPhase::kFailed;
    return DisruptedJobs(world_.snapshot(), start_s + 1)
        .of(runs, {std::make_shared<const Pod>(std::move(pod))});
  };
  EXPECT_FALSE(disrupted_at(start_s));
  EXPECT_TRUE(disrupted_at(start_s + 1));
}

TEST_F(DisruptionTest, AGangThatLosesAMemberIsStoppedAsAWhole) {
  run_on({"n1", "n2"}, day_job("gang").of(2).gang());
  world_.disrupt("gang-1", DisruptionKind::kPreemptionByScheduler);
  planner_.act(world_);
  ASSERT_EQ(stops(), 1);
  EXPECT_TRUE(world_.job("gang").suspended);
  world_.linger("gang");
  world_.make_pods();
  TaskMenus menus;
  const Queue queue = make_queue(world_.snapshot(), planner_.options(world_.now_s()), menus);
  EXPECT_EQ(queue.state().free().at(0, 0), 8) << "as good as free";
  EXPECT_EQ(queue.state().free().at(0, 1), 0) << "for whoever took it";
}

// What is seen is written once: neither the pods that still end nor a planner of another life stop
// the Job again, and the next run is not blamed for the last one's pods.
TEST_F(DisruptionTest, OneDisruptionStopsAJobOnce) {
  run_on({"n1", "n2"}, day_job("gang").of(2).gang());
  world_.linger("gang");
  for (const char* pod : {"gang-0", "gang-1"})
    world_.disrupt(pod, DisruptionKind::kDeletionByTaintManager);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 1);
  for (const char* pod : {"gang-0", "gang-1"})
    world_.let_end(pod);
  WorldPlanner successor(2);
  ASSERT_TRUE(successor.settle(world_));
  EXPECT_EQ(world_.bound("gang"), 2);
  EXPECT_EQ(stops(), 1);
  EXPECT_EQ(note("gang").count, 1);
}

TEST_F(DisruptionTest, APodThatFailsByItselfIsTheJobControllers) {
  run_on({"n1", "n2"}, day_job("gang").of(2).gang());
  world_.pods().erase(world_.pods().find({"default", "gang-1"}));
  world_.make_pods();
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 0);
  EXPECT_EQ(world_.bound("gang"), 2) << "its replacement has its place";
}

TEST_F(DisruptionTest, ANodeThatIsGoneSendsItsTasksBackAtOnce) {
  run_on({"n1", "n2"}, day_job("gang").of(2).gang());
  world_.remove_node("n2");
  world_.add(a_node("n3").of("", 8));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 1);
  EXPECT_EQ(note("gang").by, "NodeGone");
  EXPECT_NEAR(note("gang").left, 1 - 3600 / kRunTime_s, 1e-6);
  EXPECT_EQ(world_.bound("gang"), 2);
}

TEST_F(DisruptionTest, ANodeThatIsNotReadyIsWaitedForAMinute) {
  run_on({"n1"}, day_job("train"));
  world_.add(a_node("n2").of("", 8));
  world_.node("n1").ready = false;
  world_.node("n1").unready_since_s = world_.now_s();
  EXPECT_EQ(next_node_down_s(world_.snapshot(), world_.now_s()), world_.now_s() + 60);
  world_.pass(59);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 0);
  world_.pass(2);
  EXPECT_EQ(next_node_down_s(world_.snapshot(), world_.now_s()), kNever);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(note("train").by, "NodeNotReady");
  EXPECT_NEAR(note("train").left, 1 - 3600 / kRunTime_s, 1e-6);
  EXPECT_EQ(world_.pods().at({"default", "train-0"}).node, NodeName("n2"));
}

// Two lives of one Job would write the same checkpoints.
TEST_F(DisruptionTest, WhoStillEndsIsShownAndNotStarted) {
  run_on({"n1"}, day_job("train"));
  world_.linger("train");
  world_.disrupt("train-0", DisruptionKind::kEvictionByEvictionApi);
  world_.add(a_node("n2").of("", 8));
  ASSERT_TRUE(planner_.settle(world_));
  const auto hindrance = [&] {
    TaskMenus menus;
    const Queue queue = make_queue(world_.snapshot(), planner_.options(world_.now_s()), menus);
    EXPECT_EQ(queue.size(), 1U);
    return queue.task(0).hindrance;
  };
  ASSERT_TRUE(hindrance());
  EXPECT_EQ(hindrance()->reason, reason::kPodsEnding);
  EXPECT_TRUE(world_.job("train").suspended);
  world_.let_end("train-0");
  world_.job("train").terminating = 1;
  EXPECT_TRUE(hindrance()) << "the Job controller would make no pod";
  world_.job("train").terminating = 0;
  EXPECT_FALSE(hindrance());
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(world_.bound("train"), 1);
}

TEST_F(DisruptionTest, WhoWasStoppedGoesBeforeItsEquals) {
  run_on({"n1"}, day_job("victim"));
  world_.add(day_job("equal").created(900));  // as old as it says
  world_.job("victim").created_s = 900;
  world_.disrupt("victim-0", DisruptionKind::kPreemptionByScheduler, /*at_once=*/true);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(stops(), 1);
  EXPECT_EQ(world_.bound("victim"), 1);
  EXPECT_EQ(world_.bound("equal"), 0);
}

TEST_F(DisruptionTest, PodsWithoutAControllerAreNamed) {
  ClusterSnapshot snapshot;
  Pod pod;
  pod.key = {"default", "alone"};
  pod.disruption = PodDisruption{DisruptionKind::kEvictionByEvictionApi, 1000};
  snapshot.displaced.push_back(std::make_shared<const Pod>(pod));
  pod.owner = OwnerRef{"Job", "train", Uid("u")};
  snapshot.displaced.push_back(std::make_shared<const Pod>(pod));
  const auto lost = pods_that_cannot_come_back(snapshot);
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost.front()->key.name, "alone");
}

// Every life of the planner ends after one write; what one has begun, the next completes.
TEST_F(DisruptionTest, PlannersThatDieAfterEveryWriteBringItBackOnce) {
  run_on({"n1", "n2"}, day_job("gang").of(2).gang());
  world_.disrupt("gang-0", DisruptionKind::kDeletionByPodGc, /*at_once=*/true);
  live_by_single_writes(world_, [](std::int64_t epoch) { return WorldPlanner(epoch); });
  EXPECT_EQ(stops(), 1);
  EXPECT_EQ(world_.bound("gang"), 2);
  EXPECT_EQ(note("gang").count, 1);
}

}  // namespace
}  // namespace slackline::core

// When the GPUs of pods that are ending come free, as forecasts see it.
#include <gtest/gtest.h>

#include "slackline/core/cluster/queue.h"
#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;

constexpr double kSeenAt_s = 1000;
constexpr double kGone_s = kSeenAt_s + 30;

class EndingRunsTest : public testing::Test {
 protected:
  // The ends of the runs on the node, in order.
  std::vector<double> ends(test::ClusterBuilder cluster) {
    const ClusterSnapshot snapshot =
        cluster.with(a_node("n1")).with(a_job("waits").gpus(4).waiting()).build();
    QueueOptions options = planner_.options(kSeenAt_s);
    options.foresee_always = options.foresee = true;
    const Queue queue = make_queue(snapshot, options, menus_);
    std::vector<double> ends;
    for (const TaskIndex run : queue.state().running())
      ends.push_back(queue.state().observed_end_s(run, kSeenAt_s));
    std::sort(ends.begin(), ends.end());
    return ends;
  }

  static auto a_pod_that_ends(const std::string& name) {
    return a_pod(name).gpus(2).managed().on("n1").started(100).gone_by(kGone_s);
  }

  test::WorldPlanner planner_{3};
  TaskMenus menus_;
};

const std::vector<double> kOnTime = {kGone_s};

TEST_F(EndingRunsTest, APodOfAJobThatIsGoneEndsWithinItsGrace) {
  EXPECT_EQ(ends(a_cluster().with(a_pod_that_ends("gone-0").of_job("gone"))), kOnTime);
}

TEST_F(EndingRunsTest, AJobThatIsBeingDeletedEndsWithItsPods) {
  EXPECT_EQ(ends(a_cluster()
                     .with(a_job("goes").gpus(2).managed().planned({"n1"}).deleting())
                     .with(a_pod_that_ends("goes-0").of_job("goes"))),
            kOnTime);
}

TEST_F(EndingRunsTest, AJobThatWillFailEndsWithItsPods) {
  EXPECT_EQ(ends(a_cluster()
                     .with(a_job("fails").gpus(2).managed().planned({"n1"}).finished())
                     .with(a_pod_that_ends("fails-0").of_job("fails"))),
            kOnTime);
}

TEST_F(EndingRunsTest, PodsWithPlansOfTheirOwnEndWithinTheirGrace) {
  EXPECT_EQ(ends(a_cluster().with(a_pod_that_ends("bare").planned({"n1"}))), kOnTime);
  EXPECT_EQ(ends(a_cluster().with(a_pod_that_ends("member").in_gang("gang", 1).planned({"n1"}))),
            kOnTime);
}

TEST_F(EndingRunsTest, AJobThatReplacesItsPodsGoesOn) {
  const auto found = ends(a_cluster()
                              .with(a_job("stays").gpus(2).managed().planned({"n1"}))
                              .with(a_pod_that_ends("stays-0").of_job("stays")));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_GT(found.front(), kGone_s);
}

TEST_F(EndingRunsTest, ARunEndsWithTheTimeOfItsJob) {
  auto job = a_job("limited").gpus(2).managed().planned({"n1"}).started(500).limited(600);
  EXPECT_EQ(ends(a_cluster().with(job).with(
                a_pod("limited-0").of_job("limited").gpus(2).managed().on("n1").started(500))),
            std::vector<double>{1100});
}

// Its end was told a minute later, for as long as its pods took to end.
TEST_F(EndingRunsTest, ARunThatItsTimeLimitEndsIsGoneWithItsPods) {
  const auto limited = a_job("late").gpus(2).managed().planned({"n1"}).started(400).limited(600);
  EXPECT_EQ(ends(a_cluster().with(limited).with(a_pod_that_ends("late-0").of_job("late"))),
            kOnTime);
}

// Of four pods of a GPU on one node, one is done, or has failed for good (backoffLimitPerIndex).
TEST_F(EndingRunsTest, WhatIsLeftOfAGangOnOneNodeEndsAsPredicted) {
  auto job = a_job("gang").of(4).gpus(1).gang().managed().planned({"n1", "n1", "n1", "n1"});
  job.intent().expected_duration_s = 600;
  auto cluster = a_cluster().with(job.started(500).succeeded(1));
  for (const char* name : {"gang-0", "gang-1", "gang-2"})
    cluster.with(a_pod(name).of_job("gang").gpus(1).managed().on("n1").started(500));
  EXPECT_EQ(ends(std::move(cluster)), std::vector<double>{1100});
}

TEST_F(EndingRunsTest, WhatShouldBeGoneAndIsNotGoesOnForAWhile) {
  const auto found = ends(a_cluster().with(a_pod_that_ends("stuck").gone_by(kSeenAt_s - 1)));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_GT(found.front(), kSeenAt_s);
}

}  // namespace
}  // namespace slackline::core

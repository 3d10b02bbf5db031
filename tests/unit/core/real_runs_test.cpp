// What is seen of the real way of a Job.
#include "slackline/core/shadow/real_runs.h"

#include <gtest/gtest.h>

#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;
using test::job_uid;

class RealRunsTest : public testing::Test {
 protected:
  // "arrived train" ...
  std::vector<std::string> look(const ClusterSnapshot& snapshot, double now_s) {
    constexpr std::array kNames = {"arrived ", "started ", "ended ", "gone "};
    std::vector<std::string> told;
    for (const RealEvent& event : runs_.observe(snapshot, now_s)) {
      const RealRun* run = runs_.find(event.job);
      told.push_back(kNames.at(static_cast<std::size_t>(event.change)) +
                     (run == nullptr ? "nobody" : run->job->key.name));
    }
    return told;
  }

  static test::ClusterBuilder cluster() { return a_cluster().with(a_node("n1").of("P100", 8)); }
  static test::JobBuilder gang() { return a_job("train").of(2).gang().gpus(2).created(90); }
  static test::PodBuilder member(int number) {
    return a_pod("train-" + std::to_string(number)).of_job("train").gpus(2);
  }

  using Told = std::vector<std::string>;
  RealRuns runs_;
};

TEST_F(RealRunsTest, FollowsAGangFromItsArrivalToItsEnd) {
  EXPECT_EQ(look(cluster().build(), 80), Told{});
  EXPECT_EQ(look(cluster().with(gang()).build(), 100), Told{"arrived train"});
  EXPECT_EQ(look(cluster().with(gang()).with(member(0).on("n1").started(110)).build(), 111), Told{})
      << "one of two pods is not the gang";
  const auto both = cluster()
                        .with(gang())
                        .with(member(0).on("n1").started(110))
                        .with(member(1).on("n1").started(120));
  EXPECT_EQ(look(both.build(), 121), Told{"started train"});
  EXPECT_EQ(look(both.build(), 122), Told{});
  const auto over = cluster().with(gang().finished().completed(300));
  EXPECT_EQ(look(over.build(), 301), Told{"ended train"});
  EXPECT_EQ(look(over.build(), 302), Told{});
  const RealRun* run = runs_.find(job_uid("train"));
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->length_s(), 180) << "from its last pod's start";
  ASSERT_EQ(run->members.size(), 2U);
  EXPECT_EQ(run->members[0].gpu_type, GpuType("P100"));
  EXPECT_EQ(run->members[0].gpus, 2);
  EXPECT_EQ(look(cluster().build(), 400), Told{}) << "it had ended";
}

TEST_F(RealRunsTest, AJobThatItsUserHoldsArrivesOnceItIsResumed) {
  EXPECT_EQ(look(cluster().with(gang().suspended()).build(), 100), Told{});
  EXPECT_EQ(look(cluster().with(gang()).build(), 200), Told{"arrived train"});
  EXPECT_EQ(look(cluster().with(gang().suspended()).build(), 300), Told{});
  EXPECT_EQ(look(cluster().with(gang()).build(), 400), Told{}) << "it is one run";
}

TEST_F(RealRunsTest, AJobThatIsScaledToNoPodsStartsNothing) {
  EXPECT_EQ(look(cluster().with(gang()).build(), 100), Told{"arrived train"});
  const auto scaled = gang().of(0);
  EXPECT_EQ(look(cluster().with(scaled).build(), 101), Told{});
  const auto ends = cluster().with(scaled).with(member(0).on("n1").started(110));
  EXPECT_EQ(look(ends.build(), 111), Told{}) << "it was not seen to start before";
  ASSERT_NE(runs_.find(job_uid("train")), nullptr);
  EXPECT_TRUE(runs_.find(job_uid("train"))->members.empty());
  EXPECT_FALSE(runs_.find(job_uid("train"))->started_s);
  const auto again = cluster().with(gang().of(1)).with(member(0).on("n1").started(110));
  EXPECT_EQ(look(again.build(), 112), Told{"started train"});
}

TEST_F(RealRunsTest, AStartBeforeTheFirstLookIsNotKnown) {
  const auto runs = cluster()
                        .with(gang())
                        .with(member(0).on("n1").started(95))
                        .with(member(1).on("n1").started(95));
  EXPECT_EQ(look(runs.build(), 100), (Told{"arrived train", "started train"}));
  EXPECT_EQ(look(cluster().with(gang().finished().completed(200)).build(), 200),
            Told{"ended train"});
  EXPECT_FALSE(runs_.find(job_uid("train"))->length_s());
}

TEST_F(RealRunsTest, AFailureHasNoLengthAndADeletionIsNoEnd) {
  static_cast<void>(look(cluster().build(), 0));
  static_cast<void>(look(cluster().with(gang()).with(a_job("other").gpus(1)).build(), 100));
  EXPECT_EQ(look(cluster().with(gang().finished()).build(), 200),
            (Told{"ended train", "gone other"}));
  EXPECT_FALSE(runs_.find(job_uid("train"))->length_s());
  EXPECT_EQ(runs_.find(job_uid("train"))->ended_s, 200);
}

TEST_F(RealRunsTest, WhatIsOverWhenItIsFirstSeenIsNotTold) {
  EXPECT_EQ(look(cluster().with(gang().finished().completed(90)).build(), 100), Told{});
  EXPECT_EQ(look(cluster().build(), 101), Told{});
}

TEST_F(RealRunsTest, AfterARestartOnlyTheNewPodsCount) {
  static_cast<void>(look(cluster().build(), 0));
  const auto first = cluster()
                         .with(gang())
                         .with(member(0).on("n1").started(110))
                         .with(member(1).on("n1").started(110));
  static_cast<void>(look(first.build(), 111));
  const auto again = cluster()
                         .with(gang())
                         .with(member(2).on("n1").started(500))
                         .with(member(3).on("n1").started(510));
  EXPECT_EQ(look(again.build(), 511), Told{}) << "it had started";
  EXPECT_EQ(runs_.find(job_uid("train"))->started_s, 510);
  EXPECT_EQ(runs_.find(job_uid("train"))->members.size(), 2U);
  static_cast<void>(look(cluster().with(gang().finished().completed(900)).build(), 901));
  EXPECT_EQ(runs_.find(job_uid("train"))->length_s(), 790) << "what failed took its time too";
}

TEST_F(RealRunsTest, WhoIsReplacedIsTheOneThatIsGone) {
  static_cast<void>(look(cluster().build(), 0));
  const auto both = cluster()
                        .with(gang())
                        .with(member(0).on("n1").started(110))
                        .with(member(1).on("n1").started(110));
  static_cast<void>(look(both.build(), 111));
  const auto again = cluster()
                         .with(gang())
                         .with(member(0).on("n1").started(110))
                         .with(member(2).on("n1").started(500));
  static_cast<void>(look(again.build(), 501));
  const auto& members = runs_.find(job_uid("train"))->members;
  ASSERT_EQ(members.size(), 2U);
  EXPECT_EQ(members[0].started_s, 110);
  EXPECT_EQ(members[1].started_s, 500);
}

// A virtual cluster loses the node as well.
TEST_F(RealRunsTest, WhatANodeTookWithItDoesNotCount) {
  const auto nodes = [] { return cluster().with(a_node("n2").of("P100", 8)); };
  static_cast<void>(look(nodes().build(), 0));
  const auto first = nodes()
                         .with(gang())
                         .with(member(0).on("n2").started(110))
                         .with(member(1).on("n2").started(110));
  static_cast<void>(look(first.build(), 111));
  static_cast<void>(look(cluster().with(gang()).build(), 300));
  const auto again = cluster()
                         .with(gang())
                         .with(member(2).on("n1").started(500))
                         .with(member(3).on("n1").started(510));
  static_cast<void>(look(again.build(), 511));
  static_cast<void>(look(cluster().with(gang().finished().completed(900)).build(), 901));
  EXPECT_EQ(runs_.find(job_uid("train"))->length_s(), 390);
}

}  // namespace
}  // namespace slackline::core

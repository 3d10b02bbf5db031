// What does not count is taken away, and nothing else.
#include "slackline/core/handover/disown.h"

#include <set>

#include <gtest/gtest.h>

#include "slackline/core/handover/own_writes.h"
#include "slackline/model/reason.h"
#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;

ClusterSnapshot doubted() {
  ClusterSnapshot snapshot = a_cluster()
                                 .with(a_node("n1"))
                                 .with(a_job("forged").gpus(1).managed())
                                 .with(a_job("ours").gpus(1).waiting())
                                 .with(a_pod("alone").gpus(1).gated().managed())
                                 .build();
  auto job = std::make_shared<Job>(*snapshot.jobs[0]);
  job->plan_doubt = PlanDoubt::kForged;
  snapshot.jobs[0] = job;
  auto pod = std::make_shared<Pod>(*snapshot.unbound[0]);
  pod->plan_doubt = PlanDoubt::kUnsigned;
  snapshot.unbound[0] = pod;
  return snapshot;
}

TEST(Disown, ThePlansThatNobodyBelievesAreTakenAway) {
  const ClusterSnapshot snapshot = doubted();
  const auto writes = disown(snapshot, 100);
  ASSERT_EQ(writes.size(), 2U);
  EXPECT_TRUE(writes[0].is<ClearPlan>());
  EXPECT_EQ(writes[0].target.key.name, "forged");
  EXPECT_TRUE(writes[1].is<UnplanPod>());
  for (const OwnWrite& write : writes)
    EXPECT_EQ(write.decision.reason, reason::kPlanDisbelieved);
  EXPECT_TRUE(disown(with_writes(snapshot, writes), 100).empty());  // once
}

TEST(Disown, ThePlanOfAPausedJobGoesWithoutAWord) {
  ClusterSnapshot snapshot = doubted();
  auto paused = std::make_shared<Job>(*snapshot.jobs[0]);
  paused->plan_doubt = PlanDoubt::kPaused;
  snapshot.jobs[0] = paused;
  const auto writes = disown(snapshot, 100);
  ASSERT_EQ(writes.size(), 2U);
  EXPECT_TRUE(writes[0].is<ClearPlan>());
  EXPECT_EQ(writes[0].decision.reason, "");
}

TEST(Disown, WhatANamespaceGaveUpIsLetGoOnce) {
  ClusterSnapshot snapshot =
      a_cluster().with(a_job("waits").gpus(1).suspended()).with(a_pod("gated").gpus(1)).build();
  snapshot.given_up_jobs.push_back(
      {std::make_shared<const Job>(a_job("waits").waiting().build()), 100});
  snapshot.given_up_pods.push_back(
      {std::make_shared<const Pod>(a_pod("gated").gated().managed().nominated("n1").build()), 100});
  EXPECT_TRUE(disown(snapshot, 99).empty());
  auto writes = disown(snapshot, 100);
  ASSERT_EQ(writes.size(), 2U);
  EXPECT_TRUE(writes[0].is<OpenJob>());
  EXPECT_TRUE(writes[1].is<ClearNomination>());
  snapshot = with_writes(snapshot, writes);
  writes = disown(snapshot, 100);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_TRUE(writes[0].is<LiftGate>());
  EXPECT_TRUE(disown(with_writes(snapshot, writes), 100).empty());
}

TEST(Disown, ManyAreServedInTurns) {
  auto cluster = a_cluster();
  for (int i = 0; i < 10; ++i)
    cluster.with(a_job("j" + std::to_string(i)).gpus(1).managed());
  ClusterSnapshot snapshot = cluster.build();
  for (JobPtr& job : snapshot.jobs) {
    auto doubtful = std::make_shared<Job>(*job);
    doubtful->plan_doubt = PlanDoubt::kEnded;
    job = doubtful;
  }
  std::set<std::string> served;
  for (snapshot.version = 0; snapshot.version < 10; ++snapshot.version) {
    const auto writes = disown(snapshot, 100, 3);
    EXPECT_EQ(writes.size(), 3U);
    for (const OwnWrite& write : writes)
      served.insert(write.target.key.name);
  }
  EXPECT_EQ(served.size(), 10U);
}

}  // namespace
}  // namespace slackline::core

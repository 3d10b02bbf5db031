// Own writes are part of what is planned on until the watch shows them (docs/RELIABILITY.md, rule
// 1).
#include "slackline/core/handover/own_writes.h"

#include <gtest/gtest.h>

#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;

ClusterSnapshot cluster_at(const std::string& version) {
  ClusterSnapshot snapshot = a_cluster()
                                 .with(a_node("n1"))
                                 .with(a_job("train").gpus(4).waiting())
                                 .with(a_pod("lone").gpus(2).gated().managed())
                                 .build();
  auto pod = std::make_shared<Pod>(*snapshot.unbound.front());
  pod->resource_version = version;
  snapshot.unbound.front() = pod;
  return snapshot;
}

OwnWrite nomination(const ClusterSnapshot& snapshot) {
  return pod_write(*snapshot.unbound.front(), Nominate{NodeName("n1")});
}

TEST(OwnWrites, AReleaseHoldsItsNodesAtOnce) {
  const ClusterSnapshot before = cluster_at("5");
  const OwnWrite release =
      job_write(*before.jobs.front(), ReleaseJob{.plan = test::a_plan("p1-1", {1, 4}, {"n1"})});
  const ClusterSnapshot after = with_writes(before, {release});
  EXPECT_TRUE(before.holds_on(0).empty());
  ASSERT_EQ(after.holds_on(0).size(), 1U);
  EXPECT_EQ(after.holds_on(0).front().amount.gpu_count(test::kGpu), 4);
  EXPECT_FALSE(after.jobs.front()->suspended);
}

// Who gives a running Job to Kueue takes it out of our queue, also once it is stopped.
TEST(OwnWrites, AJobOfKueueThatIsStoppedDoesNotWaitWithUs) {
  Job runs = a_job("train").gpus(4).managed().planned({"n1"}).build();
  const auto stopped = [&] {
    const ClusterSnapshot before = a_cluster().with(a_node("n1")).add(runs).build();
    return *with_writes(before, {job_write(*before.jobs.front(), SuspendJob{})}).jobs.front();
  };
  EXPECT_TRUE(stopped().waits_with_us());
  runs.kueue = true;
  EXPECT_TRUE(stopped().suspended);
  EXPECT_FALSE(stopped().waits_with_us());
}

TEST(OwnWrites, AWriteToAnotherObjectOfThatNameChangesNothing) {
  const ClusterSnapshot before = cluster_at("5");
  OwnWrite write = nomination(before);
  write.target.uid = Uid("its predecessor");
  EXPECT_TRUE(with_writes(before, {write}).unbound.front()->nominated_node.empty());
}

TEST(OwnWrites, StayUntilTheWatchShowsTheirVersion) {
  OwnWrites writes;
  const auto number = writes.sent(nomination(cluster_at("998")));
  EXPECT_TRUE(writes.waiting_for(test::pod_uid("lone")));
  writes.settle(cluster_at("999"), 0);  // somebody else's change
  EXPECT_EQ(writes.size(), 1U);
  writes.written(number, "1001");
  EXPECT_FALSE(writes.waiting_for(test::pod_uid("lone")));
  writes.settle(cluster_at("1000"), 0);
  EXPECT_EQ(writes.size(), 1U);
  writes.settle(cluster_at("1001"), 0);
  EXPECT_TRUE(writes.empty());
}

TEST(OwnWrites, LeaveWhenTheyFailedOrTheirObjectIsGone) {
  OwnWrites writes;
  writes.failed(writes.sent(nomination(cluster_at("1"))));
  EXPECT_TRUE(writes.empty());
  writes.sent(nomination(cluster_at("1")));
  writes.settle(a_cluster().with(a_node("n1")).build(), 0);
  EXPECT_TRUE(writes.empty());
}

TEST(OwnWrites, ADoubtfulOneStaysUntilItsObjectChangesOrItsTimeIsOver) {
  OwnWrites writes;
  auto number = writes.sent(nomination(cluster_at("7")));
  writes.settle(cluster_at("7"), 0);
  writes.doubtful(number, 10);
  EXPECT_FALSE(writes.settle(cluster_at("7"), 9));
  EXPECT_EQ(writes.size(), 1U);
  EXPECT_FALSE(writes.settle(cluster_at("8"), 9)) << "it is seen what became of it";
  EXPECT_TRUE(writes.empty());
  number = writes.sent(nomination(cluster_at("8")));
  writes.doubtful(number, 20);
  EXPECT_TRUE(writes.settle(cluster_at("8"), 20));
  EXPECT_TRUE(writes.empty());
}

TEST(OwnWrites, VersionsAreNumbersOfAnyLength) {
  EXPECT_TRUE(shows_version("1000", "999"));
  EXPECT_TRUE(shows_version("999", "999"));
  EXPECT_FALSE(shows_version("999", "1000"));
}

}  // namespace
}  // namespace slackline::core

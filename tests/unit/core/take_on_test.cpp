// Jobs that run in part, without a plan, get one again.
#include "slackline/core/handover/take_on.h"

#include <gtest/gtest.h>

#include "slackline/core/handover/own_writes.h"
#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;

std::vector<OwnWrite> taken_on(const ClusterSnapshot& snapshot) {
  PlanStamp stamp;
  stamp.epoch = 3;
  constexpr double now_s = 1000;
  return take_on(snapshot, stamp, now_s, now_s);
}

test::ClusterBuilder nodes_of_k80s() {
  return a_cluster().with(a_node("n1").of("K80", 4)).with(a_node("n2").of("K80", 4));
}

TEST(TakeOn, AGangThatLostItsPlanAndAMemberGetsAPlanForWhereItIs) {
  auto cluster = nodes_of_k80s();
  cluster.with(a_job("gang").of(2).gang().gpus(4).managed())
      .with(a_pod("gang-0").of_job("gang").gpus(4).managed().on("n2"));
  const auto snapshot = cluster.build();
  const auto writes = taken_on(snapshot);
  ASSERT_EQ(writes.size(), 1U);
  const PlanNote& plan = *writes[0].plan();
  EXPECT_EQ(plan.nodes, (std::vector<NodeName>{NodeName("n1"), NodeName("n2")}));
  EXPECT_EQ(plan.shape, (Placement{2, 4}));
  EXPECT_EQ(plan.gpu_type, GpuType("K80"));
  EXPECT_EQ(plan.epoch, 3);
  EXPECT_TRUE(taken_on(with_writes(snapshot, writes)).empty()) << "once";
  cluster.with(a_pod("gang-1").of_job("gang").gpus(4).managed().on("n1"));
  EXPECT_TRUE(taken_on(cluster.build()).empty()) << "nobody waits for it: somebody released it";
}

// Its replacement would wait behind the gate for ever.
TEST(TakeOn, AMissingMemberHasAPlaceInThePlan) {
  const auto snapshot = nodes_of_k80s()
                            .with(a_job("gang").of(2).gang().gpus(2).managed())
                            .with(a_pod("gang-0").of_job("gang").gpus(2).managed().on("n2"))
                            .with(a_pod("gang-1").of_job("gang").gpus(2).managed().gated())
                            .build();
  const auto writes = taken_on(snapshot);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].plan()->nodes, (std::vector<NodeName>{NodeName("n2"), NodeName("n2")}));
  EXPECT_EQ(writes[0].plan()->shape, (Placement{1, 4}));
}

TEST(TakeOn, AMissingMemberGetsANodeThatItMayUse) {
  const auto snapshot = a_cluster()
                            .with(a_node("n1").of("K80", 4))
                            .with(a_node("n2").of("K80", 4).taint("maintenance", "soon"))
                            .with(a_node("n3").of("K80", 4))
                            .with(a_job("gang").of(2).gang().gpus(4).managed())
                            .with(a_pod("gang-0").of_job("gang").gpus(4).managed().on("n1"))
                            .build();
  const auto writes = taken_on(snapshot);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].plan()->nodes, (std::vector<NodeName>{NodeName("n1"), NodeName("n3")}));
}

TEST(TakeOn, AMissingMemberStaysApartWhereItHasTo) {
  SchedulingConstraints apart;
  apart.own_spread.most = 1;
  const auto snapshot = nodes_of_k80s()
                            .with(a_job("gang").of(2).gang().gpus(1).constrained(apart).managed())
                            .with(a_pod("gang-0").of_job("gang").gpus(1).managed().on("n2"))
                            .build();
  const auto writes = taken_on(snapshot);
  ASSERT_EQ(writes.size(), 1U);
  EXPECT_EQ(writes[0].plan()->nodes, (std::vector<NodeName>{NodeName("n1"), NodeName("n2")}));
}

TEST(TakeOn, OthersStayAsTheyAre) {
  Job deleting = a_job("deleting").gpus(1).managed().build();
  deleting.deleting = true;
  Job kueue = a_job("kueue").gpus(1).managed().build();
  kueue.kueue = true;
  auto cluster = nodes_of_k80s();
  cluster.add(deleting)
      .add(kueue)
      .with(a_job("paused").gpus(1).managed().suspended())
      .with(a_job("planned").gpus(1).managed().planned({"n1"}))
      .with(a_job("not-ours").gpus(1))
      .with(a_job("of-a-set").gpus(1).managed().owned_by("JobSet", "s"))
      .with(a_job("one-by-one").of(2).gpus(1).managed())
      .with(a_job("opened").gpus(1).managed())
      .with(a_job("no-pod").gpus(1).managed());
  for (const char* job :
       {"deleting", "kueue", "paused", "planned", "not-ours", "of-a-set", "one-by-one"})
    cluster.with(a_pod(std::string(job) + "-0").of_job(job).gpus(1).managed().on("n1"));
  cluster.with(a_pod("opened-0").of_job("opened").gpus(1).managed().planned({"n1"}).on("n1"));
  EXPECT_TRUE(taken_on(cluster.build()).empty());
}

}  // namespace
}  // namespace slackline::core

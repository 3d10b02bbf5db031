// Resources that are neither CPU, memory nor GPUs: "rdma/hca", "ephemeral-storage".
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/core/cluster/quotas.h"
#include "slackline/core/verbs/victims.h"
#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;
using test::a_quota;
using ::testing::ElementsAre;

constexpr const char* kHca = "rdma/hca";

class OtherResourcesTest : public testing::Test {
 protected:
  // `with_hca` of these have two each.
  void add_nodes(int count, int with_hca, std::int64_t gpus = 4) {
    for (int node = 0; node < count; ++node) {
      auto made = a_node("n" + std::to_string(node)).of("K80", gpus);
      if (node >= count - with_hca) made.other(kHca, 2);
      world_.add(made);
    }
  }
  void settle() { ASSERT_TRUE(planner_.settle(world_)); }
  std::multiset<std::string> nodes_of(const std::string& job) const {
    std::multiset<std::string> nodes;
    for (const auto& [key, pod] : world_.pods())
      if (pod.owner && pod.owner->name == job) nodes.insert(pod.node.str());
    return nodes;
  }

  test::HandOverWorld world_;
  test::WorldPlanner planner_{1};
};

TEST_F(OtherResourcesTest, AGangIsPlannedWhereTheyAre) {
  add_nodes(6, 2);
  world_.add(a_job("g").of(2).gang().gpus(4).other(kHca, 2).waiting());
  settle();
  EXPECT_THAT(nodes_of("g"), ElementsAre("n4", "n5")) << "at once, not refusal by refusal";
}

TEST_F(OtherResourcesTest, PodsThatFitByTheirGpusAloneAreSpread) {
  add_nodes(3, 2, 8);
  world_.add(a_job("g").of(2).gang().gpus(2).other(kHca, 2).waiting());
  settle();
  EXPECT_THAT(nodes_of("g"), ElementsAre("n1", "n2"));
}

TEST_F(OtherResourcesTest, WhoWantsMoreThanThereIsHoldsNoGpus) {
  add_nodes(2, 1);
  world_.add(a_job("large").gpus(2).other(kHca, 3).waiting());
  world_.add(a_job("plain").of(2).gang().gpus(4).waiting());
  settle();
  EXPECT_TRUE(world_.job("large").suspended);
  EXPECT_EQ(world_.bound("plain"), 2);
}

TEST_F(OtherResourcesTest, WhatIsTakenIsWaitedFor) {
  add_nodes(2, 1);
  world_.add(a_job("first").gpus(1).other(kHca, 2).waiting());
  settle();
  world_.add(a_job("second").gpus(1).other(kHca, 1).waiting());
  settle();
  EXPECT_TRUE(world_.job("second").suspended);
  world_.finish("first");
  settle();
  EXPECT_THAT(nodes_of("second"), ElementsAre("n1"));
}

TEST_F(OtherResourcesTest, OneThatNoNodeListsIsKubeSchedulersAlone) {
  add_nodes(2, 1);
  world_.add(a_job("g").gpus(4).other("nvidia.com/gpumem", 3000).waiting());
  settle();
  EXPECT_EQ(world_.bound("g"), 1);
}

TEST(OtherResources, AreMadeFreeByPreemption) {
  const auto cluster = a_cluster()
                           .with(a_node("a").of("K80", 4).other(kHca, 1))
                           .with(a_pod("idle").gpus(2).on("a"))
                           .with(a_pod("hca").gpus(1).other(kHca, 1).on("a"))
                           .build();
  const GpuCatalog catalog = default_gpu_catalog();
  const Pod preemptor = a_pod("urgent").gpus(1).other(kHca, 1).priority(10).build();
  const NodeVictims offered{"a", {test::pod_uid("hca")}, 0};
  const auto answer = choose_victims(cluster, {preemptor, {offered}},
                                     {{.catalog = &catalog, .now_wall_s = 1000, .trusted = true}});
  ASSERT_EQ(answer.nodes.size(), 1U);
  EXPECT_THAT(answer.nodes[0].victims, ElementsAre(test::pod_uid("hca")));
}

TEST(OtherResources, CountAgainstAQuota) {
  const auto cluster = a_cluster().with(a_quota("q").limit(kHca, 2, 1)).build();
  const QuotaBook quotas(cluster);
  const Resources pod = a_pod("p").gpus(1).other(kHca, 1).build().requests;
  EXPECT_TRUE(quotas.admits("default", pod, 1));
  EXPECT_FALSE(quotas.admits("default", pod, 2));
}

}  // namespace
}  // namespace slackline::core

// Pods of one task that share a node need room there together: CPU, memory and the rest, not GPUs
// alone.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_job;
using test::a_node;
using test::a_pod;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Nodes of eight GPUs and 64 CPUs; the eight pods of the gang ask for a GPU each.
class SharedNodesTest : public testing::Test {
 protected:
  void add_nodes(int count) {
    for (int node = 1; node <= count; ++node)
      world_.add(a_node("n" + std::to_string(node)).of("A100", 8).cpus(64));
  }
  void add_gang(std::int64_t cpus) {
    world_.add(a_job("ddp").of(8).gang().gpus(1).cpus(cpus).waiting());
  }
  void settle() { ASSERT_TRUE(planner_.settle(world_)); }
  // How many of the gang's pods each node has.
  std::map<std::string, int> nodes() const {
    std::map<std::string, int> nodes;
    for (const auto& [key, pod] : world_.pods())
      if (pod.bound() && pod.owner && pod.owner->name == "ddp") ++nodes[pod.node.str()];
    return nodes;
  }

  test::HandOverWorld world_;
  test::WorldPlanner planner_{1};
};

TEST_F(SharedNodesTest, OneNodeIsEnoughWhereItHasRoomForAll) {
  add_nodes(3);
  add_gang(8);
  settle();
  EXPECT_THAT(nodes(), ElementsAre(Pair("n1", 8)));
}

TEST_F(SharedNodesTest, SeveralAreTakenWhereOneHasTooLittle) {
  add_nodes(3);
  add_gang(10);
  settle();
  EXPECT_THAT(nodes(), ElementsAre(Pair("n1", 4), Pair("n2", 4))) << "as planned, and not moved";
  EXPECT_EQ(world_.job("ddp").plan->shape, *parse_placement("2x4"));
}

TEST_F(SharedNodesTest, WhatOthersHaveCountsToo) {
  add_nodes(2);
  world_.add(a_pod("web").cpus(30).on("n1"));
  add_gang(8);
  settle();
  EXPECT_THAT(nodes(), ElementsAre(Pair("n2", 8)));
}

TEST_F(SharedNodesTest, NobodyHoldsGpusOfNodesThatAreTooSmall) {
  add_nodes(1);
  add_gang(10);
  world_.add(a_job("next").gpus(8).waiting().created(world_.now_s()));
  settle();
  EXPECT_THAT(nodes(), IsEmpty());
  EXPECT_TRUE(world_.job("ddp").suspended);
  EXPECT_EQ(world_.bound("next"), 1);
}

}  // namespace
}  // namespace slackline::core

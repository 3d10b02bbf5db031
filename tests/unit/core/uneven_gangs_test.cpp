// Gangs of equal pods of which no nodes could take as many each.
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/model/reason.h"
#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_job;
using test::a_node;
using test::a_pod;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Nodes with eight GPUs and 64 CPUs.
class UnevenGangsTest : public testing::Test {
 protected:
  void add_nodes(int count) {
    for (int node = 1; node <= count; ++node)
      world_.add(a_node("n" + std::to_string(node)).of("A100", 8).cpus(64));
  }
  void settle() { ASSERT_TRUE(planner_.settle(world_)); }
  // How many pods of a Job its nodes have, the most first.
  std::vector<int> on_nodes(const std::string& job) const {
    std::map<std::string, int> nodes;
    for (const auto& [key, pod] : world_.pods())
      if (pod.bound() && pod.owner && pod.owner->name == job) ++nodes[pod.node.str()];
    std::vector<int> counts;
    for (const auto& [node, count] : nodes)
      counts.push_back(count);
    std::sort(counts.rbegin(), counts.rend());
    return counts;
  }

  test::HandOverWorld world_;
  test::WorldPlanner planner_{1};
};

TEST_F(UnevenGangsTest, ThreePodsRunOnTwoNodes) {
  add_nodes(2);
  world_.add(a_job("three").of(3).gang().gpus(4).waiting());
  settle();
  EXPECT_THAT(on_nodes("three"), ElementsAre(2, 1));
}

TEST_F(UnevenGangsTest, WhatIsFreeBesideOthersIsEnough) {
  add_nodes(2);
  world_.add(a_pod("web").gpus(4).on("n1"));
  world_.add(a_job("three").of(3).gang().gpus(4).waiting());
  settle();
  EXPECT_THAT(on_nodes("three"), ElementsAre(2, 1));
}

TEST_F(UnevenGangsTest, AsManyOnEachNodeWhereThereAreSuchNodes) {
  add_nodes(3);
  world_.add(a_job("three").of(3).gang().gpus(4).waiting());
  settle();
  EXPECT_THAT(on_nodes("three"), ElementsAre(1, 1, 1));
}

TEST_F(UnevenGangsTest, WhatElseTheyNeedOfANodeTheyNeedTogether) {
  add_nodes(2);
  world_.add(a_job("wide").of(3).gang().gpus(2).cpus(40).waiting());
  world_.add(a_job("slim").of(7).gang().gpus(1).cpus(16).waiting());
  settle();
  EXPECT_THAT(on_nodes("wide"), IsEmpty()) << "a node has CPUs for one of them";
  EXPECT_THAT(on_nodes("slim"), ElementsAre(4, 3));
}

TEST_F(UnevenGangsTest, OnlyNodesThatTheyMayUseCount) {
  add_nodes(4);
  SchedulingConstraints two;
  two.affinity_terms = {{{"kubernetes.io/hostname", MatchOperator::kIn, {"n1", "n2"}}}};
  for (int node = 1; node <= 2; ++node)
    world_.add(a_node("m" + std::to_string(node)).of("A100", 8).cpus(64).label("set", "m"));
  two.affinity_terms = {{{"set", MatchOperator::kIn, {"m"}}}};
  world_.add(a_job("bound").of(3).gang().gpus(4).waiting().constrained(two));
  settle();
  EXPECT_THAT(on_nodes("bound"), ElementsAre(2, 1));
}

TEST_F(UnevenGangsTest, TheNextOneStartsBesideItAndAfterIt) {
  add_nodes(2);
  world_.add(a_job("three").of(3).gang().gpus(4).waiting());
  settle();
  world_.add(a_job("fits").gpus(4).waiting());
  world_.add(a_job("again").of(3).gang().gpus(4).waiting());
  settle();
  EXPECT_THAT(on_nodes("fits"), ElementsAre(1));
  EXPECT_THAT(on_nodes("again"), IsEmpty()) << "no GPU is given twice";
}

}  // namespace
}  // namespace slackline::core

// What is free besides GPUs, in plans and forecasts: FreeRest itself, and whole queues.
#include "slackline/core/planning/free_rest.h"

#include <gtest/gtest.h>

#include "slackline/base/random.h"
#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_job;
using test::a_node;

RestNeed a_need(RestAmounts of_pod, int gpus = 0, std::vector<int> several = {}) {
  return {.asked = of_pod, .taken = of_pod, .gpus = gpus, .several = std::move(several)};
}

TEST(FreeRest, PodsThatShareANodeNeedAsMuchTogether) {
  FreeRest rest({.needs = {a_need({30}, 2, {2, 4})}, .node_of = {{0, 1}}}, {{64}, {200}});
  const auto fits = [&](PoolNode node, int gpus) {
    return rest.usable(0)->contains(0, node, gpus);
  };
  EXPECT_TRUE(fits(0, 2) && fits(0, 4) && !fits(0, 8));
  EXPECT_TRUE(fits(1, 8));
  rest.take(0, 0, 0, 2);
  EXPECT_FALSE(fits(0, 2)) << "4 are left";
  rest.take(0, 0, 0, -1);
  EXPECT_TRUE(fits(0, 2) && !fits(0, 4));
}

TEST(FreeRest, ANodeOfTwoPoolsIsOne) {
  FreeRest rest({.needs = {a_need({40})}, .node_of = {{0}, {0}}}, {{64}});
  EXPECT_TRUE(rest.usable(0)->contains(1, 0));
  rest.take(0, 0, 0, 1);
  EXPECT_FALSE(rest.usable(0)->contains(1, 0));
}

TEST(FreeRest, WhoAsksForNothingOfWhatIsShortMayUseTheNode) {
  FreeRest rest({.needs = {a_need({0, 8}), a_need({}), a_need({1, 0})}, .node_of = {{0}}},
                {{-20, 8}});
  EXPECT_TRUE(rest.usable(0)->contains(0, 0));
  EXPECT_EQ(rest.usable(1), nullptr);
  EXPECT_FALSE(rest.usable(2)->contains(0, 0));
}

// Whatever was taken and given back before.
TEST(FreeRest, IsWhatIsLeft) {
  Random random(7);
  const auto below = [&](std::size_t count) { return random.next() % count; };
  const std::vector<RestNeed> needs = {a_need({3, 1}), a_need({5, 0}, 1, {2, 3}),
                                       a_need({0, 2}, 2, {2})};
  std::vector<RestAmounts> left(6, {20, 6});
  const std::vector<std::vector<std::uint32_t>> nodes = {{0, 1, 2, 3}, {3, 4, 5}};
  FreeRest rest({.needs = needs, .node_of = nodes}, left);
  for (int step = 0; step < 2000; ++step) {
    const auto need = static_cast<RestNumber>(below(needs.size()));
    const auto pool = static_cast<PoolIndex>(below(nodes.size()));
    const auto node = static_cast<PoolNode>(below(nodes[pool].size()));
    const std::int64_t pods = static_cast<std::int64_t>(below(5)) - 2;
    rest.take(need, pool, node, pods);
    for (std::size_t i = 0; i < 2; ++i)
      left[nodes[pool][node]][i] -= needs[need].taken[i] * pods;
    for (RestNumber n = 0; n < needs.size(); ++n)
      for (PoolIndex p = 0; p < nodes.size(); ++p)
        for (PoolNode at = 0; at < nodes[p].size(); ++at)
          for (const std::int64_t together : {1, 2}) {
            bool fits = true;
            for (std::size_t i = 0; i < 2; ++i) {
              const std::int64_t asked = needs[n].asked[i] * (n == 0 ? 1 : together);
              fits = fits && (asked == 0 || asked <= left[nodes[p][at]][i]);
            }
            const int gpus = static_cast<int>(together) * std::max(1, needs[n].gpus);
            ASSERT_EQ(rest.usable(n)->contains(p, at, n == 0 ? 1 : gpus), fits) << step;
          }
  }
}

class RestOfNodesTest : public testing::Test {
 protected:
  void add_nodes(int count, int cpus) {
    for (int node = 0; node < count; ++node)
      world_.add(a_node("n" + std::to_string(node)).of("A100", 8).cpus(cpus));
  }

  test::HandOverWorld world_;
  test::WorldPlanner planner_{1};
};

// The best fit is the node that the first one takes.
TEST_F(RestOfNodesTest, WhoFindsNoCpuBesideAnotherTakesTheNextNodeInTheSamePlan) {
  add_nodes(3, 64);
  for (const char* name : {"a", "b", "c"})
    world_.add(a_job(name).gpus(1).cpus(40).waiting());
  planner_.act(world_);
  EXPECT_EQ(world_.count_of<ReleaseJob>(), 3);
  world_.make_pods();
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(world_.bound(), 3);
}

TEST_F(RestOfNodesTest, AGangSharesNodesAsFarAsTheCpuGoes) {
  add_nodes(2, 64);
  world_.add(a_job("first").gpus(1).cpus(30).waiting());
  world_.add(a_job("gang").of(3).gang().gpus(1).cpus(30).waiting());
  planner_.act(world_);
  EXPECT_EQ(world_.count_of<ReleaseJob>(), 2);
  world_.make_pods();
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(world_.bound(), 4);
  EXPECT_EQ(world_.count_of<SuspendJob>(), 0);
}

// Each of its kind alone leaves CPU for all others of its kind.
TEST_F(RestOfNodesTest, SlicesAndGpusOfOneNodeShareItsCpu) {
  const char* const slice = "nvidia.com/mig-1g.5gb";
  world_.add(a_node("n1").of("A100", 4).resource(slice, 28).cpus(64));
  for (const char* name : {"a", "b", "c"})
    world_.add(a_job(name).gpus(1).cpus(16).waiting());
  for (const char* name : {"s", "t", "u"})
    world_.add(a_job(name).gpus(7, slice).cpus(14).waiting());
  planner_.act(world_);
  EXPECT_EQ(world_.count_of<ReleaseJob>(), 4) << "48 of 64 CPUs, and 14 of the 16 left";
  world_.make_pods();
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(world_.bound(), 4);
}

TEST_F(RestOfNodesTest, PodsThatDifferTakeWhatEachAsksFor) {
  add_nodes(2, 64);
  world_.add(test::a_pod("a").gpus(4).cpus(40).gated().managed().in_gang("g", 3));
  world_.add(test::a_pod("b").gpus(2).cpus(40).gated().managed().in_gang("g", 3));
  world_.add(test::a_pod("c").gpus(1).cpus(20).gated().managed().in_gang("g", 3));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(world_.bound(), 3);
  EXPECT_NE(world_.pods().at({"default", "a"}).node, world_.pods().at({"default", "b"}).node);
}

}  // namespace
}  // namespace slackline::core

// Pods of one task that share a node need room there together: CPU, memory and the rest, not GPUs
// alone.
#include <algorithm>
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
  // How many of a gang's pods each node has.
  std::map<std::string, int> nodes(const std::string& gang = "ddp") const {
    std::map<std::string, int> nodes;
    for (const auto& [key, pod] : world_.pods())
      if (pod.bound() && pod.owner && pod.owner->name == gang) ++nodes[pod.node.str()];
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

// Gangs of equal pods of which no nodes could take as many each.
class UnevenGangsTest : public SharedNodesTest {
 protected:
  // How many pods of a Job its nodes have, the most first.
  std::vector<int> on_nodes(const std::string& job) const {
    std::vector<int> counts;
    for (const auto& [node, count] : nodes(job))
      counts.push_back(count);
    std::sort(counts.rbegin(), counts.rend());
    return counts;
  }
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

TEST_F(UnevenGangsTest, WhatIsFreeNowIsTakenWhereOnlyBusyNodesWouldTakeThemEvenly) {
  add_nodes(3);
  for (const auto& [node, gpus] : {std::pair("n1", 5), {"n2", 5}, {"n3", 6}})
    world_.add(a_pod(std::string("web-") + node).gpus(gpus).on(node));
  world_.add(a_job("eight").of(8).gang().gpus(1).waiting());
  settle();
  EXPECT_THAT(on_nodes("eight"), ElementsAre(3, 3, 2));
}

TEST_F(UnevenGangsTest, FreeNodesThatTakeThemEvenlyComeFirst) {
  add_nodes(3);
  world_.add(a_pod("web").gpus(5).on("n1"));
  world_.add(a_pod("more").gpus(5).on("n2"));
  world_.add(a_job("eight").of(8).gang().gpus(1).waiting());
  settle();
  EXPECT_THAT(on_nodes("eight"), ElementsAre(8));
}

TEST_F(UnevenGangsTest, WhereAModelKnowsWhatAShapeTakesItWaitsForOne) {
  planner_.know(
      WorkloadProfiles({{"bert", GpuType("A100"), {"S", {10, 1, 0, 0.1, 1.4}}, 30, 12, 0.0, ""}}));
  add_nodes(2);
  world_.add(a_pod("web").gpus(5).on("n1"));
  world_.add(a_pod("more").gpus(6).on("n2"));
  world_.add(a_job("bert").of(5).gang().gpus(1).trains("bert", 64, 1000).waiting());
  settle();
  EXPECT_THAT(on_nodes("bert"), IsEmpty());
}

// Gangs whose pods must be in one zone: n1 and n4 are in one, n2 and n3 in the other.
class OneZoneTest : public SharedNodesTest {
 protected:
  OneZoneTest() { rule_.own_spread.together = {"zone"}; }
  void add_zones() {
    for (const auto& [node, zone] : {std::pair("n1", "a"), {"n2", "b"}, {"n3", "b"}, {"n4", "a"}})
      world_.add(a_node(node).of("A100", 8).cpus(64).label("zone", zone));
  }
  void add(const char* name, int pods, int gpus) {
    world_.add(a_job(name).of(pods).gang().gpus(gpus).constrained(rule_).waiting());
    settle();
  }
  SchedulingConstraints rule_;
};

TEST_F(OneZoneTest, AllGetNodesOfOneZoneAndTheNextGangThoseOfTheOther) {
  add_zones();
  add("first", 2, 8);
  add("second", 2, 8);
  EXPECT_THAT(nodes("first"), ElementsAre(Pair("n1", 1), Pair("n4", 1)));
  EXPECT_THAT(nodes("second"), ElementsAre(Pair("n2", 1), Pair("n3", 1)));
}

TEST_F(OneZoneTest, OneWithRoomForAllIsTakenEvenIfItIsSmaller) {
  add_zones();
  world_.add(a_node("n5").of("A100", 8).cpus(64).label("zone", "b"));
  world_.add(a_pod("web").gpus(8).on("n2"));
  world_.add(a_pod("more").gpus(8).on("n3"));
  add("train", 2, 8);
  EXPECT_THAT(nodes("train"), ElementsAre(Pair("n1", 1), Pair("n4", 1)));
}

TEST_F(OneZoneTest, WhatNoZoneCouldHoldFitsNowhereAndHoldsNothing) {
  add_zones();
  world_.add(a_node("bare").of("A100", 8).cpus(64));
  add("three", 3, 8);
  world_.add(a_job("beside").of(4).gang().gpus(8).waiting());
  settle();
  EXPECT_THAT(nodes("three"), IsEmpty());
  EXPECT_EQ(world_.bound("beside"), 4);
}

TEST_F(OneZoneTest, UnevenGangsToo) {
  add_zones();
  add("five", 3, 5);
  EXPECT_THAT(nodes("five"), IsEmpty()) << "a node has room for one of them";
  add("three", 3, 4);
  EXPECT_THAT(nodes("three"), ElementsAre(Pair("n1", 2), Pair("n4", 1)));
}

TEST_F(OneZoneTest, WhoLosesItsNodeStaysInItsZone) {
  add_zones();
  world_.add(a_node("n5").of("A100", 8).cpus(64).label("zone", "b"));
  world_.add(a_pod("web").gpus(8).on("n1"));
  world_.add(a_job("train").of(2).gang().gpus(8).constrained(rule_).waiting());
  planner_.act(world_);
  world_.make_pods();
  const NodeName lost = world_.job("train").plan->nodes.front();
  world_.node(lost.str()).unschedulable = true;
  settle();
  std::map<std::string, int> left = {{"n2", 1}, {"n3", 1}, {"n5", 1}};
  left.erase(lost.str());
  EXPECT_EQ(nodes("train"), left);
}

// Gangs whose pods must be in different zones; with a skew, in equal parts.
class ApartTest : public OneZoneTest {
 protected:
  ApartTest() { rule_.own_spread = {}; }
  void spread(std::int64_t skew) {
    rule_.own_spread.apart = {"zone", skew};
    if (skew == 0) rule_.own_spread.most = 1;
  }
  // The nodes that forecasts would use.
  std::set<std::string> foreseen(const char* name) {
    QueueOptions options = planner_.options(0);
    options.foresee = true;
    TaskMenus menus;
    const ClusterSnapshot snapshot = world_.snapshot();
    const Queue queue = make_queue(snapshot, options, menus);
    std::set<std::string> names;
    for (TaskIndex task = 0; task < queue.size(); ++task) {
      if (queue.task(task).key.name != name) continue;
      const auto& eligible = queue.state().tasks()[task].eligible;
      for (PoolNode node = 0; node < queue.pools()[0].nodes.size(); ++node)
        if (eligible == nullptr || eligible->contains(0, node))
          names.insert(snapshot.node(queue.pools()[0].nodes[node]).node->name.str());
    }
    return names;
  }
  std::map<std::string, int> by_zone(const char* name) {
    std::map<std::string, int> zones;
    for (const auto& [node, pods] : nodes(name))
      zones[*find_label(world_.node(node).labels, "zone")] += pods;
    return zones;
  }
};

TEST_F(ApartTest, ByAntiAffinityOneIsInEachZone) {
  add_zones();
  spread(0);
  add("first", 2, 4);
  add("second", 2, 4);
  for (const char* name : {"first", "second"})
    EXPECT_THAT(by_zone(name), ElementsAre(Pair("a", 1), Pair("b", 1))) << name;
  add("three", 3, 1);
  EXPECT_THAT(nodes("three"), IsEmpty()) << "there are two zones";
}

TEST_F(ApartTest, ByAntiAffinityThoseZonesAreTakenThatHaveRoom) {
  add_zones();
  world_.add(a_node("n5").of("A100", 8).cpus(64).label("zone", "c"));
  world_.add(a_pod("web").gpus(8).on("n1"));
  world_.add(a_pod("more").gpus(8).on("n4"));
  spread(0);
  add("train", 2, 8);
  EXPECT_THAT(by_zone("train"), ElementsAre(Pair("b", 1), Pair("c", 1)));
}

TEST_F(ApartTest, ByTopologySpreadEachZoneHasAsMany) {
  add_zones();
  world_.add(a_node("n5").of("A100", 8).cpus(64).label("zone", "b"));
  spread(1);
  add("train", 4, 8);
  EXPECT_THAT(by_zone("train"), ElementsAre(Pair("a", 2), Pair("b", 2)));
}

TEST_F(ApartTest, ByTopologySpreadAZoneWithoutGpusCountsTooIfItIsNotLeftOut) {
  for (const auto& [node, zone] : {std::pair("n1", "a"), {"n2", "b"}, {"n3", "b"}, {"n4", "a"}})
    world_.add(a_node(node).of("A100", 8).cpus(64).label("zone", zone).label("gpu", "yes"));
  world_.add(a_node("cpu").cpus(64).label("zone", "c").taint("control-plane", ""));
  spread(1);
  add("four", 4, 8);
  EXPECT_THAT(nodes("four"), IsEmpty()) << "two in a zone are two more than in c";
  rule_.node_selector = {{"gpu", "yes"}};
  add("selects", 4, 8);
  EXPECT_THAT(by_zone("selects"), ElementsAre(Pair("a", 2), Pair("b", 2)));
}

TEST_F(ApartTest, ByTopologySpreadSmallPodsAreLeftToKubeScheduler) {
  add_zones();
  spread(1);
  add("small", 4, 2);
  EXPECT_EQ(world_.bound("small"), 4);
}

TEST_F(ApartTest, ForecastsUseNodesThatAreFreeAndElseAny) {
  add_zones();
  world_.add(a_pod("web").gpus(8).on("n1"));
  world_.add(a_pod("more").gpus(8).on("n2"));
  spread(0);
  world_.add(a_job("two").of(2).gang().gpus(8).constrained(rule_).waiting());
  EXPECT_THAT(foreseen("two"), ElementsAre("n3", "n4"));
  world_.add(a_pod("most").gpus(8).on("n3"));
  EXPECT_THAT(foreseen("two"), ElementsAre("n1", "n2", "n3", "n4"));
  world_.add(a_job("three").of(3).gang().gpus(8).constrained(rule_).waiting());
  EXPECT_THAT(foreseen("three"), IsEmpty()) << "there are two zones";
}

}  // namespace
}  // namespace slackline::core

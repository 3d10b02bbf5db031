// Of the nodes that a gang may use it gets those that are near each other in the network.
#include <map>
#include <random>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/core/cluster/pools.h"
#include "slackline/core/planning/free_gpus.h"
#include "slackline/core/planning/plan.h"
#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using ::testing::ElementsAre;

constexpr int kGpusOfNode = 8;

FreeGpus free_nodes(const std::vector<NodeBlockLevel>& levels) {
  FreeGpus free({std::vector<int>(levels.front().of_node.size(), kGpusOfNode)});
  free.set_blocks(std::make_shared<const NodeBlocks>(NodeBlocks{levels}));
  return free;
}

NodeBlockLevel level(const std::vector<std::uint32_t>& of_node) {
  std::set<std::uint32_t> blocks(of_node.begin(), of_node.end());
  blocks.erase(NodeBlockLevel::kNone);
  return {of_node, blocks.size()};
}

// Racks of 3, 2 and 4 nodes, the first two in one zone.
const NodeBlockLevel kRacks = level({0, 1, 2, 0, 1, 2, 0, 2, 2});
const NodeBlockLevel kZones = level({0, 0, 1, 0, 0, 1, 0, 1, 1});

TEST(NearNodes, AGangGetsTheBlockThatSuitsItBest) {
  const FreeGpus free = free_nodes({kRacks, kZones});
  EXPECT_THAT(free.find(0, {2, kGpusOfNode}, nullptr), ElementsAre(1, 4));
  EXPECT_THAT(free.find(0, {3, kGpusOfNode}, nullptr), ElementsAre(0, 3, 6));
  EXPECT_THAT(free.find(0, {4, kGpusOfNode}, nullptr), ElementsAre(2, 5, 7, 8));
  EXPECT_THAT(free.find(0, {1, kGpusOfNode}, nullptr), ElementsAre(0)) << "one node is near itself";
}

TEST(NearNodes, OneThatNoRackHoldsStaysInItsZoneRackByRack) {
  const FreeGpus free = free_nodes({kRacks, kZones});
  EXPECT_THAT(free.find(0, {5, kGpusOfNode}, nullptr), ElementsAre(0, 3, 6, 1, 4));
}

TEST(NearNodes, OneThatNoZoneHoldsGetsAllOfTheLargestAndTheRestTogether) {
  const FreeGpus free = free_nodes({kRacks, kZones});
  EXPECT_THAT(free.find(0, {7, kGpusOfNode}, nullptr), ElementsAre(0, 3, 6, 1, 4, 2, 5));
}

TEST(NearNodes, NothingIsRefusedForBeingFar) {
  const std::uint32_t none = NodeBlockLevel::kNone;
  FreeGpus free = free_nodes({level({none, 0, none, 1})});
  EXPECT_EQ(free.find(0, {4, kGpusOfNode}, nullptr).size(), 4U);
  EXPECT_TRUE(free.find(0, {5, kGpusOfNode}, nullptr).empty());
  free.take(0, {1}, kGpusOfNode);
  EXPECT_THAT(free.find(0, {3, kGpusOfNode}, nullptr), ElementsAre(3, 0, 2));
}

TEST(NearNodes, WhatATaskMayNotUseAndWhatIsSlowDoesNotCount) {
  FreeGpus free = free_nodes({kRacks});
  const EligibleNodes eligible{{NodeSet(std::vector<bool>{1, 1, 1, 1, 0, 1, 1, 1, 1})}};
  EXPECT_THAT(free.find(0, {2, kGpusOfNode}, &eligible), ElementsAre(0, 3))
      << "rack 1 has one left";
  free.avoid({NodeSet(std::vector<bool>{1, 0, 0, 1, 0, 0, 0, 0, 0})});
  EXPECT_THAT(free.find(0, {2, kGpusOfNode}, &eligible), ElementsAre(2, 5))
      << "rack 0 has one left";
}

// As many as without blocks; all in one block where one has as many.
TEST(NearNodes, RandomOnes) {
  std::mt19937 random(1);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int round = 0; round < 2000; ++round) {
    const std::size_t nodes = 1 + below(150);
    std::vector<std::uint32_t> racks;
    std::vector<std::uint32_t> zones;
    std::vector<int> gpus;
    for (std::size_t node = 0; node < nodes; ++node) {
      racks.push_back(below(8));
      zones.push_back(racks.back() / 3);
      gpus.push_back(static_cast<int>(below(kGpusOfNode + 1)));
    }
    const NodeBlockLevel level{racks, 8};
    FreeGpus plain({gpus});
    FreeGpus near = plain;
    near.set_blocks(std::make_shared<const NodeBlocks>(NodeBlocks{{level, {zones, 3}}}));
    const Placement shape{static_cast<int>(2 + below(12)),
                          static_cast<int>(1 + below(kGpusOfNode))};
    const auto found = near.find(0, shape, nullptr);
    ASSERT_EQ(found.size(), plain.find(0, shape, nullptr).size()) << round;
    ASSERT_EQ(std::set<PoolNode>(found.begin(), found.end()).size(), found.size()) << round;
    std::map<std::uint32_t, int> room;
    std::set<std::uint32_t> used;
    for (PoolNode node = 0; node < nodes; ++node)
      room[racks[node]] += gpus[node] >= shape.d_gpn ? 1 : 0;
    for (const PoolNode node : found) {
      ASSERT_GE(gpus[node], shape.d_gpn) << round;
      used.insert(racks[node]);
    }
    const bool one_holds_it = std::any_of(
        room.begin(), room.end(), [&](const auto& rack) { return rack.second >= shape.d_node; });
    if (one_holds_it) {
      ASSERT_EQ(used.size(), 1U) << round;
    }
  }
}

// A gang of all nodes waits for the first one, and another starts meanwhile.
TEST(NearNodes, AGangThatStartsBesideAReservationIsNearToo) {
  constexpr double kHour_s = 3600;
  const std::vector<Pool> pools = {{GpuType("H100"), "", 5, kGpusOfNode, 1.0}};
  std::vector<PlanTask> all;
  const auto add = [&](int nodes, double run_h, double deadline_h) {
    PlanTask task;
    task.id = static_cast<std::int64_t>(all.size());
    task.submit_s = static_cast<double>(all.size());
    task.deadline_s = deadline_h * kHour_s;
    task.request_gpus = nodes * kGpusOfNode;
    task.menu = std::make_shared<const PlacementMenu>(
        make_menu({{0, {nodes, kGpusOfNode}, 1, run_h * kHour_s, 0, 0}}, pools, {}));
    all.push_back(task);
  };
  add(1, 5, 100);
  add(5, 4, 12);
  add(2, 1, 24);
  const TaskTable tasks(std::move(all));
  for (const std::string_view policy : {"reserve", "easy", "edf-easy"}) {
    PlanState state(tasks, free_nodes({level({0, 0, 1, 0, 1})}));
    for (TaskIndex task = 0; task < tasks.size(); ++task)
      state.arrive(task);
    state.start(0, state.run_at(0, 0, 0, {0}));
    const Plan planned = plan(state, 0, *parse_policy(policy));
    ASSERT_EQ(planned.reservations.size(), 1U) << policy;
    ASSERT_EQ(planned.effects.size(), 1U) << policy;
    ASSERT_EQ(planned.effects[0].task, 2U) << policy;
    EXPECT_THAT(planned.effects[0].begun->nodes, ElementsAre(1, 3)) << policy;
  }
}

TEST(NearNodes, ABlockIsKnownByTheLabelsOfTheWiderOnes) {
  GpuCatalog catalog;
  catalog.topology_labels = {"zone", "rack"};
  const auto a = catalog.blocks_of({{"rack", "r1"}, {"zone", "a"}});
  const auto b = catalog.blocks_of({{"rack", "r1"}, {"zone", "b"}});
  ASSERT_EQ(a.size(), 2U);
  EXPECT_NE(a[0], b[0]);
  EXPECT_NE(a[1], b[1]) << "racks of two zones may have the same name";
  EXPECT_EQ(catalog.blocks_of({{"zone", "a"}}), std::vector<std::uint64_t>{a[0]});
  EXPECT_EQ(catalog.blocks_of({{"rack", "r1"}}).front(), 0U);
  EXPECT_TRUE(catalog.blocks_of({{"host", "h"}}).empty());
}

TEST(NearNodes, LevelsThatTellNothingApartAreNone) {
  const auto blocks_of = [](const char* key, const std::vector<const char*>& values) {
    auto cluster = a_cluster();
    for (std::size_t i = 0; i < values.size(); ++i) {
      auto node = a_node("n" + std::to_string(i)).label("topology.kubernetes.io/zone", "a");
      cluster.with(node.label(key, values[i]));
    }
    const ClusterSnapshot snapshot = cluster.build();
    return find_blocks(snapshot, find_pools(snapshot, default_gpu_catalog()));
  };
  EXPECT_EQ(blocks_of("host", {"a", "b"}), nullptr) << "all in one zone";
  const auto found = blocks_of("nvidia.com/gpu.clique", {"c1", "c2", "c1"});
  ASSERT_NE(found, nullptr);
  ASSERT_EQ(found->at(0).size(), 1U);
  EXPECT_THAT(found->at(0)[0].of_node, ElementsAre(0, 1, 0));
}

// Two racks, whose nodes have names in turn.
TEST(NearNodes, AGangIsReleasedToOneRack) {
  test::HandOverWorld world;
  test::WorldPlanner planner{1};
  for (int node = 1; node <= 6; ++node)
    world.add(a_node("n" + std::to_string(node))
                  .of("A100", 4)
                  .label("topology.k8s.aws/network-node-layer-3", node % 2 == 0 ? "even" : "odd"));
  for (const char* name : {"first", "second"})
    world.add(a_job(name).of(3).gang().gpus(4).waiting());
  ASSERT_TRUE(planner.settle(world));
  std::map<std::string, std::set<int>> racks;
  for (const auto& [key, pod] : world.pods())
    racks[pod.owner->name].insert((pod.node.str().back() - '0') % 2);
  ASSERT_EQ(racks.size(), 2U);
  for (const auto& [name, of] : racks)
    EXPECT_EQ(of.size(), 1U) << name;
}

}  // namespace
}  // namespace slackline::core

#include "slackline/model/snapshot.h"

#include <gtest/gtest.h>

#include "support/object_builders.h"

namespace slackline {
namespace {

using namespace slackline::test;

ClusterSnapshot with_job(const JobBuilder& job) {
  ClusterSnapshot snapshot;
  snapshot.jobs.push_back(std::make_shared<const Job>(job.build()));
  return snapshot;
}

NodeStatePtr state_of(const NodeBuilder& node, Resources used = {}) {
  return std::make_shared<const NodeState>(
      NodeState{std::make_shared<const Node>(node.build()), {}, std::move(used)});
}

TEST(Snapshot, FindsNodesByNameWithoutACopy) {
  ClusterSnapshot snapshot;
  EXPECT_EQ(snapshot.find_node("a"), std::nullopt) << "no nodes yet";
  for (const char* name : {"a", "b"})
    snapshot.nodes.push_back(state_of(a_node(name).of("A100", 4)));
  snapshot.node_names = std::make_shared<const NodeNames>(snapshot.nodes);
  snapshot.nodes.clear();
  EXPECT_EQ(snapshot.find_node("b"), 1U) << "names outlive the nodes they were read from";
  EXPECT_EQ(snapshot.find_node("c"), std::nullopt);
  EXPECT_TRUE(snapshot.holds_on(0).empty());
}

TEST(Snapshot, LeavesAResourceThatNoNodeListsToKubeScheduler) {
  ClusterSnapshot snapshot;
  snapshot.nodes = {state_of(a_node("a").of("A100", 4).other("rdma/hca", 2)),
                    state_of(a_node("b").of("A100", 4).other("rdma/hca", 0))};
  snapshot.node_table = make_node_table(snapshot.nodes);
  const auto free = [&](NodeIndex node) { return snapshot.node(node).free(); };
  const Resources known = a_pod("p").gpus(1).other("rdma/hca", 1).build().requests;
  EXPECT_TRUE(snapshot.fits(known, free(0)));
  EXPECT_FALSE(snapshot.fits(known, free(1)));
  const Resources unheard = a_pod("q").gpus(1).other("nvidia.com/gpumem", 3000).build().requests;
  EXPECT_TRUE(snapshot.fits(unheard, free(1)));
  EXPECT_FALSE(snapshot.fits(known + unheard, free(1)));
  EXPECT_FALSE(snapshot.fits(a_pod("r").gpus(5).build().requests, free(0)));
}

TEST(NodeTable, TellsOfEveryNodeWhatItHasAndWhatIsFree) {
  const Resources used = a_pod("p").gpus(3).build().requests;
  const auto gone = a_pod("q").gpus(2, "example.com/gone").build().requests;
  const NodeStatePtr busy = state_of(a_node("a").of("A100", 4), used);
  const NodeStatePtr odd = state_of(a_node("b").of("T4", 2).unreadable("memory: \"1e999\""), gone);
  const NodeTable table = make_node_table({busy, odd});

  EXPECT_EQ(table.types[table.rows[0].type], GpuType("A100"));
  EXPECT_EQ(table.types[table.rows[1].type], GpuType("T4"));
  EXPECT_TRUE(table.rows[0].readable);
  EXPECT_FALSE(table.rows[1].readable);
  EXPECT_EQ(table.rows[0].cpu_milli, busy->node->allocatable.cpu_milli);
  EXPECT_EQ(table.rows[0].cpu_milli_free, busy->free().cpu_milli);
  EXPECT_EQ(table.rows[0].memory_bytes_free, busy->free().memory_bytes);
  EXPECT_EQ(table.rows[0].pods_free, busy->free().pods);

  const std::vector<GpuCell>* gpus = table.cells(kGpu);
  ASSERT_NE(gpus, nullptr);
  EXPECT_EQ(gpus->at(0).allocatable, 4);
  EXPECT_EQ(gpus->at(0).free, 1);
  EXPECT_EQ(gpus->at(1).free, 2);
  ASSERT_NE(table.cells("example.com/gone"), nullptr) << "used, though no node offers it any more";
  EXPECT_EQ(table.cells("example.com/gone")->at(1).free, -2);
  EXPECT_EQ(table.cells("amd.com/gpu"), nullptr);
}

TEST(Snapshot, CountsWhatANodeHasLeft) {
  NodeState state;
  state.node = std::make_shared<const Node>(a_node("a").of("A100", 4).build());
  state.used = a_pod("p").gpus(3).build().requests;
  EXPECT_EQ(state.free().gpu_count(kGpu), 1);
}

TEST(Snapshot, KnowsThePodsJobByNameAndUid) {
  const ClusterSnapshot snapshot = with_job(a_job("train").trains("bert", 64, 10));
  const Pod mine = a_pod("train-0").of_job("train").build();
  ASSERT_NE(owning_job(snapshot, mine), nullptr);
  EXPECT_EQ(effective_intent(snapshot, mine).model, "bert");

  Pod of_an_older_job = mine;
  of_an_older_job.owner->uid = Uid("an older one");
  EXPECT_EQ(owning_job(snapshot, of_an_older_job), nullptr);
  EXPECT_EQ(effective_intent(snapshot, of_an_older_job).model, std::nullopt);
  EXPECT_EQ(owning_job(snapshot, a_pod("other/train-0").of_job("train").build()), nullptr);
}

TEST(Snapshot, LetsThePodsPlanWin) {
  const ClusterSnapshot snapshot = with_job(a_job("train").gpus(1).planned({"a"}, "of the job"));
  EXPECT_EQ(effective_plan(snapshot, a_pod("train-0").of_job("train").build())->id, "of the job");
  EXPECT_EQ(
      effective_plan(snapshot, a_pod("train-0").of_job("train").planned({"b"}, "own").build())->id,
      "own");
  EXPECT_EQ(effective_plan(snapshot, a_pod("alone").build()), nullptr);
}

TEST(Job, IsAGangOnlyWhereEveryIndexRunsAtOnce) {
  EXPECT_TRUE(a_job("j").of(4).gang().build().is_gang());
  EXPECT_FALSE(a_job("j").of(4).build().is_gang());
  EXPECT_FALSE(a_job("j").of(1).gang().build().is_gang());
  Job half = a_job("j").of(4).gang().build();
  half.parallelism = 2;
  EXPECT_FALSE(half.is_gang());
}

}  // namespace
}  // namespace slackline

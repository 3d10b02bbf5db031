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

TEST(Snapshot, FindsNodesByNameWithoutACopy) {
  ClusterSnapshot snapshot;
  EXPECT_EQ(snapshot.find_node("a"), std::nullopt) << "no index yet";
  auto index = std::make_shared<NodeIndexMap>();
  index->emplace("a", 0);
  snapshot.node_index = index;
  EXPECT_EQ(snapshot.find_node("a"), 0U);
  EXPECT_EQ(snapshot.find_node("b"), std::nullopt);
  EXPECT_TRUE(snapshot.holds_on(0).empty());
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

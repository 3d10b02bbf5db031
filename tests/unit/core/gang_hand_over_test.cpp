// Gangs that controllers make, from the plan to their nodes, and what becomes of those that run.
#include <algorithm>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "slackline/core/cluster/as_planned.h"
#include "slackline/core/cluster/spared_runs.h"
#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_node;
using test::a_pod;

// Every node has four GPUs, and so has every pod.
class GangHandOverTest : public testing::Test {
 protected:
  void add_nodes(int count) {
    for (int node = 1; node <= count; ++node)
      world_.add(a_node("n" + std::to_string(node)).of("A100", 4));
  }
  void settle() {
    world_.pass(3);  // a gang of unknown size is whole once no pod comes any more
    ASSERT_TRUE(planner_.settle(world_));
  }
  void make(const std::string& name, const std::string& owner_kind, const std::string& owner,
            const OwnerGang& gang) {
    world_.add(
        a_pod(name).owned_by(owner_kind, owner).gpus(4).managed().gated().created(world_.now_s()));
    Pod& pod = world_.pods().at({"default", name});
    pod.uid = Uid(name + "#" + std::to_string(++made_));
    pod.owner_gang = std::make_shared<const OwnerGang>(gang);
  }
  // The leader is a pod of the set of all leaders, the workers are of a set of their own.
  void make_group(const std::string& name, int size) {
    const OwnerGang gang{"LeaderWorkerSet", name, Uid(), "", size};
    make(name, "StatefulSet", "vllm", gang);
    for (int worker = 1; worker < size; ++worker)
      make(name + "-" + std::to_string(worker), "StatefulSet", name, gang);
  }
  std::set<NodeName> nodes() const {
    std::set<NodeName> nodes;
    for (const auto& [key, pod] : world_.pods())
      if (pod.bound()) nodes.insert(pod.node);
    return nodes;
  }

  test::HandOverWorld world_;
  test::WorldPlanner planner_{1};
  int made_ = 0;
};

TEST_F(GangHandOverTest, AGroupOfALeaderWorkerSetStartsOnNodesThatItFills) {
  add_nodes(4);
  make_group("vllm-0", 4);
  settle();
  EXPECT_EQ(nodes().size(), 4U);
  EXPECT_EQ(world_.count_of<PlanPod>(), 4) << "where it was planned";
}

TEST_F(GangHandOverTest, GroupsOfALeaderWorkerSetHoldTheirNodesAgainstEachOther) {
  add_nodes(4);
  make_group("vllm-0", 2);
  make_group("vllm-1", 2);
  settle();
  EXPECT_EQ(nodes().size(), 4U);
  EXPECT_EQ(world_.count_of<PlanPod>(), 4);
}

// The controller would make the whole group again.
TEST_F(GangHandOverTest, APodThatReplacesAMemberIsNotStoppedForOthers) {
  add_nodes(2);
  make_group("vllm-0", 2);
  settle();
  world_.pods().erase({"default", "vllm-0-1"});
  make("vllm-0-1", "StatefulSet", "vllm-0", {"LeaderWorkerSet", "vllm-0", Uid(), "", 2});
  settle();
  ASSERT_EQ(nodes().size(), 2U);
  world_.pass(3600);
  const ClusterSnapshot now = world_.snapshot();
  const Queue queue = planner_.queue(now, world_.now_s());
  EXPECT_EQ(spared_runs(now, planner_.options(world_.now_s()), queue, *parse_policy("default")),
            std::vector<Spared>(2, Spared::kGangOfPods));
}

TEST_F(GangHandOverTest, OfOnePodWithGpusKeepsItsName) {
  add_nodes(1);
  make("hpl-worker-0", "MPIJob", "hpl", {"MPIJob", "hpl", Uid("hpl-uid"), ""});
  settle();
  ASSERT_EQ(nodes().size(), 1U);
  const Queue queue = planner_.queue(world_.snapshot(), world_.now_s());
  ASSERT_EQ(queue.size(), 1U);
  EXPECT_EQ(queue.task(0).kind, TaskKind::kGang);
  EXPECT_EQ(queue.task(0).key.name, "hpl");
  EXPECT_EQ(queue.task(0).bound.size(), 1U);
}

TEST_F(GangHandOverTest, AMemberThatIsUnlikeTheOthersIsReplacedInItsPlaceToo) {
  add_nodes(2);
  const OwnerGang gang{"RayCluster", "tune", Uid("tune-uid"), ""};
  make("tune-a", "RayCluster", "tune", gang);
  for (const char* small : {"tune-b", "tune-c"}) {
    make(small, "RayCluster", "tune", gang);
    world_.pods().at({"default", small}).requests.set_gpus(test::kGpu, 2);
  }
  settle();
  ASSERT_EQ(world_.bound(), 3);
  world_.add(test::a_job("next").gpus(2).waiting().created(world_.now_s()));
  world_.lose({"default", "tune-b"});
  settle();
  EXPECT_TRUE(world_.job("next").suspended);
  make("tune-d", "RayCluster", "tune", gang);
  world_.pods().at({"default", "tune-d"}).requests.set_gpus(test::kGpu, 2);
  settle();
  EXPECT_TRUE(world_.pods().at({"default", "tune-d"}).bound());
}

TEST_F(GangHandOverTest, WhatStartedOneByOneGoesOnSoWhenItIsMadeAgain) {
  add_nodes(2);
  world_.add(a_pod("web").gpus(3).on("n1"));
  world_.add(a_pod("more").gpus(2).on("n2"));
  const std::vector<std::string> names = {"parts-a", "parts-b", "parts-c"};
  const auto make_all = [&] {
    for (const std::string& name : names) {
      make(name, "RayCluster", "parts", {"RayCluster", "parts", Uid("parts-uid"), ""});
      world_.pods().at({"default", name}).requests.set_gpus(test::kGpu, 1);
    }
    settle();
  };
  const auto runs = [&] {
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
      return world_.pods().at({"default", name}).bound();
    });
  };
  make_all();
  ASSERT_TRUE(runs()) << "one GPU of one node, two of the other";
  world_.pods().erase({"default", "web"});
  world_.pods().erase({"default", "more"});
  world_.add(test::a_job("next").gpus(4).waiting().created(world_.now_s()));
  for (const std::string& name : names)
    world_.pods().erase({"default", name});
  ASSERT_TRUE(planner_.settle(world_));
  make_all();
  EXPECT_TRUE(runs());
  EXPECT_TRUE(world_.job("next").suspended);
}

class LostMemberTest : public GangHandOverTest {
 protected:
  void SetUp() override {
    add_nodes(2);
    make_worker("t5-worker-0");
    make_worker("t5-worker-1");
    settle();
    ASSERT_EQ(nodes().size(), 2U);
    lost_on_ = world_.pods().at(kLost).node;
    world_.pass(3600);
    world_.add(test::a_job("next").gpus(4).waiting().created(world_.now_s()));
  }
  void make_worker(const std::string& name) {
    make(name, "PyTorchJob", "t5", {"PyTorchJob", "t5", Uid("t5-uid"), ""});
  }
  bool next_waits() { return world_.job("next").suspended; }

  const ObjectKey kLost{"default", "t5-worker-1"};
  NodeName lost_on_;
};

TEST_F(LostMemberTest, OfAGangIsReplacedInItsPlace) {
  world_.lose(kLost);
  settle();
  EXPECT_TRUE(next_waits()) << "the controller makes it again";
  make_worker(kLost.name);
  settle();
  EXPECT_EQ(world_.pods().at(kLost).node, lost_on_);
  EXPECT_TRUE(next_waits());
  const Queue queue = planner_.queue(world_.snapshot(), world_.now_s());
  EXPECT_EQ(queue.size(), 2U) << "one gang, and the Job that waits";
}

TEST_F(LostMemberTest, WhoReplacesItDoesNotBeginTheRunAnew) {
  const double first_s = world_.pods().at({"default", "t5-worker-0"}).started_s.value_or(0);
  const auto since_s = [&] {
    const Queue queue = planner_.queue(world_.snapshot(), world_.now_s());
    for (TaskIndex index = 0; index < queue.size(); ++index)
      if (queue.task(index).plan) return started_s(queue.task(index)).value_or(-1);
    return -1.0;
  };
  EXPECT_NEAR(since_s(), first_s, 1);
  world_.lose(kLost);
  make_worker(kLost.name);
  settle();
  ASSERT_TRUE(world_.pods().at(kLost).bound());
  EXPECT_NEAR(since_s(), first_s, 1);
}

TEST_F(LostMemberTest, OfAGangThatNobodyReplacesHoldsNothingAfterHalfAMinute) {
  world_.lose(kLost);
  EXPECT_EQ(next_hold_ends_s(world_.snapshot(), world_.now_s()),
            world_.now_s() + kMadeAgainWithin_s);
  world_.pass(kMadeAgainWithin_s);
  settle();
  EXPECT_FALSE(next_waits());
  make_worker(kLost.name);
  settle();
  EXPECT_FALSE(world_.pods().at(kLost).bound()) << "it waits its turn";
}

TEST_F(LostMemberTest, OfAGangIsReplacedElsewhereWhereItsNodeIsLost) {
  world_.add(a_node("n3").of("A100", 4));
  world_.job("next").suspended_by_us = false;  // held by its user
  world_.lose(kLost);
  world_.node(lost_on_.str()).unschedulable = true;
  make_worker(kLost.name);
  settle();
  EXPECT_EQ(world_.pods().at(kLost).node, NodeName("n3"));
}

// Of a JobSet that starts in order: its controller makes two pods of b once the pod of a runs.
class StagedGangTest : public GangHandOverTest {
 protected:
  void says(std::int64_t gpus_of_b = 4) {
    auto pattern = a_pod("member").gpus(gpus_of_b).build();
    LaterMembers later{"b", {"a"}, 2, std::make_shared<const Pod>(pattern), 7};
    world_.gang_specs[Uid("llm-uid")].later = {later};
  }
  void make_member(const std::string& role, const std::string& name, std::int64_t gpus = 4) {
    OwnerGang gang{"JobSet", "llm", Uid("llm-uid"), "0"};
    gang.role = role;
    make(name, "JobSet", "llm", gang);
    world_.pods().at({"default", name}).requests.set_gpus(test::kGpu, gpus);
  }
  void add_next() { world_.add(test::a_job("next").gpus(4).waiting().created(world_.now_s())); }
  bool runs(const char* name) { return world_.pods().at({"default", name}).bound(); }
  bool next_waits() { return world_.job("next").suspended; }
};

TEST_F(StagedGangTest, StartsWhereThoseThatComeLaterHaveRoomToo) {
  says();
  add_nodes(3);
  world_.add(a_pod("web").gpus(4).on("n1"));
  make_member("a", "llm-a-0");
  settle();
  EXPECT_FALSE(runs("llm-a-0")) << "it would hold its GPUs for nothing";
  world_.pods().erase({"default", "web"});
  settle();
  EXPECT_TRUE(runs("llm-a-0"));
  EXPECT_EQ(world_.count_of<PlanPod>(), 1);
}

// With exclusive topology its controller says so of the first pod alone.
TEST_F(StagedGangTest, OfWhichAllShareARackStartsInOneThatHoldsAll) {
  says();
  add_nodes(5);
  for (const char* node : {"n1", "n2", "n3", "n4", "n5"})
    world_.node(node).labels = {{"rack", node < std::string("n3") ? "small" : "large"}};
  make_member("a", "llm-a-0");
  SchedulingConstraints of_first;
  of_first.own_spread.together = {"rack"};
  Pod& first = world_.pods().at({"default", "llm-a-0"});
  first.constraints = std::make_shared<const SchedulingConstraints>(of_first);
  settle();
  ASSERT_TRUE(runs("llm-a-0"));
  EXPECT_EQ(std::set<NodeName>(first.plan->nodes.begin(), first.plan->nodes.end()),
            (std::set<NodeName>{NodeName("n3"), NodeName("n4"), NodeName("n5")}));
}

TEST_F(StagedGangTest, WhatComesOnceOthersHaveEndedStartsAsAWhole) {
  add_nodes(1);
  make_member("a", "llm-a-0");
  settle();
  ASSERT_TRUE(runs("llm-a-0"));
  world_.pods().at({"default", "llm-a-0"}).phase = PodPhase::kSucceeded;
  make_member("b", "llm-b-0");
  make_member("b", "llm-b-1");
  world_.add(a_node("n2").of("A100", 4));
  settle();
  EXPECT_FALSE(runs("llm-b-0") || runs("llm-b-1"));
  world_.add(a_node("n3").of("A100", 4));
  settle();
  EXPECT_TRUE(runs("llm-b-0") && runs("llm-b-1"));
}

TEST_F(StagedGangTest, ThatNoNodesCouldHoldStartsNothing) {
  says();
  add_nodes(2);
  make_member("a", "llm-a-0");
  settle();
  EXPECT_FALSE(runs("llm-a-0")) << "it would hold its GPUs for nothing";
  const Queue queue = planner_.queue(world_.snapshot(), world_.now_s());
  ASSERT_EQ(queue.size(), 1U);
  const QueueTask& task = queue.task(0);
  EXPECT_EQ(task.hindrance,
            (Hindrance{reason::kNoNodeFits,
                       "its controller makes 2 of its 3 pods later; all are planned together, and "
                       "no GPU type has usable nodes with as many GPUs"}));
  EXPECT_EQ(task.request.pods, 3);
  world_.add(a_node("n3").of("A100", 4));
  settle();
  EXPECT_TRUE(runs("llm-a-0"));
}

// Together they are more than either type has.
TEST_F(StagedGangTest, OfPodsForTwoTypesOfGpusComesPodByPod) {
  auto pattern = a_pod("member").gpus(4).build();
  SchedulingConstraints of_b;
  of_b.node_selector = {{"pool", "b"}};
  pattern.constraints = std::make_shared<const SchedulingConstraints>(of_b);
  world_.gang_specs[Uid("llm-uid")].later = {
      {"b", {"a"}, 2, std::make_shared<const Pod>(pattern), 7}};
  world_.add(a_node("l4").of("L4", 4));
  for (const char* name : {"b1", "b2"}) {
    world_.add(a_node(name).of("A100", 4));
    world_.node(name).labels = {{"pool", "b"}};
  }
  make_member("a", "llm-a-0");
  Pod& driver = world_.pods().at({"default", "llm-a-0"});
  SchedulingConstraints of_a;
  of_a.node_selector = {{"pool", "a"}};
  driver.constraints = std::make_shared<const SchedulingConstraints>(of_a);
  world_.node("l4").labels = {{"pool", "a"}};
  settle();
  EXPECT_TRUE(runs("llm-a-0"));
}

TEST_F(StagedGangTest, ThatOnlyCordonedNodesCouldHoldStartsNothing) {
  says();
  add_nodes(3);
  world_.node("n3").unschedulable = true;
  make_member("a", "llm-a-0");
  settle();
  EXPECT_FALSE(runs("llm-a-0"));
  world_.node("n3").unschedulable = false;
  settle();
  EXPECT_TRUE(runs("llm-a-0"));
}

TEST_F(StagedGangTest, OfPodsThatNoNodeTakesStartsNothing) {
  says();
  SchedulingConstraints own;
  own.node_selector = {{"kind", "none"}};
  Pod pattern = a_pod("member").gpus(4).build();
  pattern.constraints = std::make_shared<const SchedulingConstraints>(own);
  world_.gang_specs[Uid("llm-uid")].later.front().pattern = std::make_shared<const Pod>(pattern);
  add_nodes(3);
  make_member("a", "llm-a-0");
  settle();
  EXPECT_FALSE(runs("llm-a-0"));
}

// Written by whoever may make its object.
TEST_F(StagedGangTest, OfCountlessPodsCostsNoMemory) {
  says();
  world_.gang_specs[Uid("llm-uid")].later.front().pods = std::numeric_limits<std::int64_t>::max();
  add_nodes(2);
  make_member("a", "llm-a-0");
  settle();
  EXPECT_FALSE(runs("llm-a-0"));
  const Queue queue = planner_.queue(world_.snapshot(), world_.now_s());
  ASSERT_EQ(queue.size(), 1U);
  EXPECT_EQ(queue.task(0).pods.size(), 1U);
}

TEST_F(StagedGangTest, WhoseObjectSaysNothingStartsAsItIs) {
  add_nodes(1);
  make_member("a", "llm-a-0");
  settle();
  EXPECT_TRUE(runs("llm-a-0"));
}

TEST_F(StagedGangTest, KeepsTheRoomOfThoseThatComeLater) {
  says();
  add_nodes(3);
  make_member("a", "llm-a-0");
  settle();
  ASSERT_TRUE(runs("llm-a-0"));
  add_next();
  world_.pass(600);
  settle();
  EXPECT_TRUE(next_waits());
  make_member("b", "llm-b-0");
  settle();
  EXPECT_TRUE(runs("llm-b-0"));
  EXPECT_TRUE(next_waits()) << "one more comes";
  make_member("b", "llm-b-1");
  settle();
  EXPECT_TRUE(runs("llm-b-1"));
  EXPECT_EQ(nodes().size(), 3U);
  EXPECT_TRUE(next_waits());
  const Queue queue = planner_.queue(world_.snapshot(), world_.now_s());
  EXPECT_EQ(queue.size(), 2U) << "one gang, and the Job that waits";
}

TEST_F(StagedGangTest, KeepsAPlaceForEachWhateverBecomesOfTheOthers) {
  says();
  add_nodes(3);
  make_member("a", "llm-a-0");
  settle();
  add_next();
  make_member("b", "llm-b-0");
  world_.pods().erase({"default", "llm-b-0"});  // before it had a node
  make_member("b", "llm-b-1");
  settle();
  world_.lose({"default", "llm-b-1"});
  world_.pass(60);
  settle();
  make_member("b", "llm-b-2");
  make_member("b", "llm-b-3");
  settle();
  EXPECT_TRUE(runs("llm-b-2") && runs("llm-b-3"));
  EXPECT_TRUE(next_waits());
}

TEST_F(StagedGangTest, KeepsNothingThatItWasNotPlannedWith) {
  says();
  add_nodes(4);
  make_member("a", "llm-a-0");
  settle();
  add_next();
  settle();
  EXPECT_FALSE(next_waits());
}

TEST_F(StagedGangTest, OnTypesOfTheirOwnComePodByPod) {
  says();
  const auto only_on = [](Pod& pod, const char* kind) {
    SchedulingConstraints own;
    own.node_selector = {{"kind", kind}};
    pod.constraints = std::make_shared<const SchedulingConstraints>(own);
  };
  Pod pattern = a_pod("member").gpus(4).build();
  only_on(pattern, "large");
  world_.gang_specs[Uid("llm-uid")].later.front().pattern = std::make_shared<const Pod>(pattern);
  add_nodes(3);
  world_.add(a_node("h1").of("H100", 4));
  for (const char* node : {"n1", "n2", "n3"})
    world_.node(node).labels = {{"kind", "small"}};
  world_.node("h1").labels = {{"kind", "large"}};
  make_member("a", "llm-a-0");
  only_on(world_.pods().at({"default", "llm-a-0"}), "small");
  settle();
  EXPECT_TRUE(runs("llm-a-0"));
}

// A daemon that has just started has read nothing of it.
TEST_F(StagedGangTest, WaitsUntilItsObjectWasRead) {
  add_nodes(1);
  world_.gang_specs[Uid("other")] = {};
  make_member("a", "llm-a-0");
  settle();
  EXPECT_FALSE(runs("llm-a-0"));
  world_.gang_specs[Uid("llm-uid")] = {};
  settle();
  EXPECT_TRUE(runs("llm-a-0"));
}

TEST_F(StagedGangTest, KeepsRoomForAnHour) {
  says();
  add_nodes(3);
  make_member("a", "llm-a-0");
  settle();
  add_next();
  world_.pass(3500);
  settle();
  EXPECT_TRUE(next_waits());
  world_.pass(120);
  settle();
  EXPECT_FALSE(next_waits());
  make_member("b", "llm-b-0");
  make_member("b", "llm-b-1");
  settle();
  EXPECT_EQ(nodes().size(), 3U) << "one of them waits its turn";
}

TEST_F(StagedGangTest, WhoJoinsDoesNotBeginTheHourAnew) {
  says();
  add_nodes(3);
  make_member("a", "llm-a-0");
  settle();
  world_.pass(3500);
  make_member("b", "llm-b-0");
  settle();
  ASSERT_TRUE(runs("llm-b-0"));
  add_next();
  world_.pass(120);
  settle();
  EXPECT_FALSE(next_waits());
  make_member("b", "llm-b-1");
  settle();
  EXPECT_FALSE(world_.pods().at({"default", "llm-b-1"}).plan) << "it waits its turn";
}

TEST_F(StagedGangTest, LeavesTheRoomWhenItEnds) {
  says();
  add_nodes(3);
  make_member("a", "llm-a-0");
  settle();
  add_next();
  settle();
  ASSERT_TRUE(next_waits());
  world_.pods().erase({"default", "llm-a-0"});
  settle();
  EXPECT_FALSE(next_waits());
}

TEST_F(StagedGangTest, OfPodsThatDifferEachHasAPlaceOfItsSize) {
  says();
  add_nodes(3);
  world_.add(a_pod("web").gpus(2).on("n1"));
  make_member("a", "llm-a-0", 2);
  settle();
  ASSERT_TRUE(runs("llm-a-0"));
  EXPECT_EQ(world_.pods().at({"default", "llm-a-0"}).node, NodeName("n1"));
  add_next();
  settle();
  EXPECT_TRUE(next_waits());
  make_member("b", "llm-b-0");
  make_member("b", "llm-b-1");
  settle();
  EXPECT_TRUE(runs("llm-b-0") && runs("llm-b-1"));
}

// Its controller deletes all of its pods, and makes them again one after the other. Another gang
// waits for the same two nodes, and a Job for one of them.
class RestartedGangTest : public GangHandOverTest {
 protected:
  void SetUp() override {
    add_nodes(2);
    make_group("vllm-0", 2);
    settle();
    ASSERT_EQ(nodes().size(), 2U);
    world_.pass(3600);
    make_group("other", 2);
    world_.add(test::a_job("next").gpus(4).waiting().created(world_.now_s()));
    settle();
  }
  void lose_all() {
    for (const char* pod : {"vllm-0", "vllm-0-1"})
      world_.pods().erase({"default", pod});
    ASSERT_TRUE(planner_.settle(world_));
  }
  void make_leader() { make("vllm-0", "StatefulSet", "vllm", kGang); }
  void make_worker() { make("vllm-0-1", "StatefulSet", "vllm-0", kGang); }
  bool runs(const char* name) { return world_.pods().at({"default", name}).bound(); }
  bool others_wait() { return !runs("other") && !runs("other-1") && world_.job("next").suspended; }

  const OwnerGang kGang{"LeaderWorkerSet", "vllm-0", Uid(), "", 2};
};

TEST_F(RestartedGangTest, GoesOnInItsPlace) {
  lose_all();
  settle();  // three seconds
  EXPECT_TRUE(others_wait()) << "its controller makes it again";
  make_leader();
  settle();
  world_.pass(3);
  settle();
  EXPECT_TRUE(others_wait()) << "its worker comes";
  make_worker();
  settle();
  EXPECT_TRUE(runs("vllm-0") && runs("vllm-0-1"));
  EXPECT_TRUE(others_wait());
}

TEST_F(RestartedGangTest, LeavesItToOthersWhereNobodyMakesItAgain) {
  lose_all();
  EXPECT_TRUE(others_wait());
  world_.pass(10.1);
  settle();
  EXPECT_FALSE(others_wait());
}

TEST_F(RestartedGangTest, LeavesItToOthersWhereItStaysIncomplete) {
  lose_all();
  make_leader();
  settle();
  world_.pass(30.1);
  settle();
  EXPECT_FALSE(others_wait());
}

TEST_F(RestartedGangTest, KeepsNodesOfPodsThatEndedBeforeTheOthers) {
  const ObjectKey slow{"default", "vllm-0-1"};
  world_.pods().at(slow).deleting = true;
  world_.pods().at(slow).gone_by_s = world_.now_s() + 30;
  world_.pods().erase({"default", "vllm-0"});
  settle();
  world_.pass(20);
  settle();
  EXPECT_TRUE(others_wait());
  world_.pods().erase(slow);
  settle();
  make_leader();
  make_worker();
  settle();
  EXPECT_TRUE(runs("vllm-0") && runs("vllm-0-1"));
}

TEST_F(RestartedGangTest, IsOverOnceAPodHasSucceeded) {
  world_.pods().at({"default", "vllm-0"}).phase = PodPhase::kSucceeded;
  world_.pods().erase({"default", "vllm-0-1"});
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_FALSE(others_wait());
}

TEST_F(RestartedGangTest, WaitsItsTurnWhereItAsksForSomethingElse) {
  lose_all();
  make_leader();
  make_worker();
  for (const char* pod : {"vllm-0", "vllm-0-1"})
    world_.pods().at({"default", pod}).requests.set_gpus(test::kGpu, 3);
  settle();
  EXPECT_FALSE(others_wait());
}

}  // namespace
}  // namespace slackline::core

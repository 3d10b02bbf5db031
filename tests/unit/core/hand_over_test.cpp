// Planned tasks on their way through kube-scheduler: every rule of docs/RELIABILITY.md, in a small
// world.
#include "slackline/core/handover/hand_over.h"

#include <iterator>
#include <set>

#include <gtest/gtest.h>

#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_job;
using test::a_node;
using test::a_pod;
using test::a_quota;

class HandOverTest : public testing::Test {
 protected:
  void settle(test::WorldPlanner& planner, bool bind = true) {
    ASSERT_TRUE(planner.settle(world_, bind));
  }

  int bound(const std::string& job) const { return world_.bound(job); }
  std::int64_t lifted() const { return world_.count_of<LiftGate>(); }
  std::vector<std::string> written() const { return world_.written(); }

  test::HandOverWorld world_;
  test::WorldPlanner planner_{1};
};

TEST_F(HandOverTest, ASinglePodJobCostsThreeWrites) {
  world_.add(a_node("gpu-1"));
  world_.add(a_job("train").gpus(2).waiting());
  settle(planner_);
  EXPECT_EQ(written(), (std::vector<std::string>{"release", "nominate", "lift"}));
  EXPECT_EQ(bound("train"), 1);
}

TEST_F(HandOverTest, AGangIsLiftedOnlyWhenEveryPodExistsAndIsNominated) {
  for (const char* node : {"n1", "n2", "n3", "n4"})
    world_.add(a_node(node));
  world_.add(a_job("gang").of(4).gang().gpus(4).waiting());
  planner_.act(world_);
  world_.make_pods(3);
  planner_.act(world_);
  planner_.act(world_);
  EXPECT_EQ(written(), (std::vector<std::string>{"release"}));
  world_.make_pods();
  planner_.act(world_);
  EXPECT_EQ(lifted(), 0);
  planner_.act(world_);
  EXPECT_EQ(lifted(), 4);
  EXPECT_EQ(world_.bind(), 4);
}

// A nomination that is on its way may fail, and a gate that has gone does not come back.
TEST_F(HandOverTest, AGangIsLiftedOnlyWhenEveryNominationIsAnswered) {
  for (const char* node : {"n1", "n2"})
    world_.add(a_node(node));
  world_.add(a_job("gang").of(2).gang().gpus(4).waiting());
  planner_.act(world_);
  world_.make_pods();
  OwnWrites writes;
  const ClusterSnapshot seen = world_.snapshot();  // the watch shows none of what follows
  const auto next = [&] {
    return planner_.hand_over(with_writes(seen, writes.writes()), world_.now_s(),
                              writes.unanswered());
  };
  const auto nominations = next();
  ASSERT_EQ(nominations.size(), 2U);
  const auto first = writes.sent(nominations[0]);
  const auto second = writes.sent(nominations[1]);
  EXPECT_TRUE(next().empty());
  writes.written(first, "2001");
  EXPECT_TRUE(next().empty()) << "the second may still fail";
  writes.failed(second);
  ASSERT_EQ(next().size(), 1U);
  EXPECT_TRUE(next()[0].is<Nominate>());
  writes.written(writes.sent(nominations[1]), "2002");
  ASSERT_EQ(next().size(), 2U);
  EXPECT_TRUE(next()[1].is<LiftGate>());
}

TEST_F(HandOverTest, AnIncompleteGangIsSuspendedAgainAndBackedOff) {
  for (const char* node : {"n1", "n2"})
    world_.add(a_node(node));
  world_.add(a_job("gang").of(2).gang().gpus(4).waiting());
  double backoff_s = kLeastBackoff_s;
  for (int round = 0; round < 3; ++round, backoff_s *= 2) {
    planner_.act(world_);
    ASSERT_FALSE(world_.job("gang").suspended) << round;
    world_.make_pods(1);  // a quota lets one pod pass
    planner_.act(world_);
    world_.pass(kIncompleteAfter_s - 1);
    planner_.act(world_);
    ASSERT_FALSE(world_.job("gang").suspended) << round;
    world_.pass(1);
    planner_.act(world_);
    ASSERT_TRUE(world_.job("gang").suspended) << round;
    EXPECT_EQ(planner_.memory.backoff.at(test::job_uid("gang")).reason, kPodsRejected);
    world_.make_pods();
    EXPECT_TRUE(world_.pods().empty());
    EXPECT_EQ(planner_.act(world_), 0U);
    world_.pass(backoff_s - 1);
    EXPECT_EQ(planner_.act(world_), 0U) << round;
    world_.pass(1);
  }
  EXPECT_EQ(lifted(), 0);
}

// A quota that the planner did not foresee: made after the release.
TEST_F(HandOverTest, ASuspensionThatIsDecidedAgainWaitsNoLonger) {
  for (const char* node : {"n1", "n2"})
    world_.add(a_node(node));
  world_.add(a_job("gang").of(2).gang().gpus(4).waiting());
  planner_.act(world_);
  world_.make_pods(1);
  planner_.act(world_);
  world_.pass(kIncompleteAfter_s);
  for (int refused = 0; refused < 3; ++refused)
    EXPECT_FALSE(planner_.hand_over(world_.snapshot(), world_.now_s()).empty());
  EXPECT_EQ(planner_.memory.backoff.at(test::job_uid("gang")).step_s, kLeastBackoff_s);
}

TEST_F(HandOverTest, AnIncompleteGangTellsThatAQuotaIsFullAndStartsOnceThereIsRoom) {
  for (const char* node : {"n1", "n2"})
    world_.add(a_node(node));
  world_.add(a_job("gang").of(2).gang().gpus(4).waiting());
  planner_.act(world_);
  world_.make_pods(1);
  world_.add(a_quota("team").limit(test::kGpu, 4));
  planner_.act(world_);
  world_.pass(kIncompleteAfter_s);
  planner_.act(world_);
  ASSERT_TRUE(world_.job("gang").suspended);
  EXPECT_EQ(world_.performed.back().decision.reason, kQuotaExceeded);
  world_.make_pods();
  world_.pass(kMostBackoff_s);
  settle(planner_);
  EXPECT_TRUE(world_.job("gang").suspended) << "its 8 GPUs would exceed the quota again";
  world_.add(a_quota("team").limit(test::kGpu, 8));
  settle(planner_);
  EXPECT_EQ(bound("gang"), 2);
}

TEST_F(HandOverTest, AGangThatIsNotKnownToExceedAQuotaWasRejectedByOthers) {
  world_.add(a_node("n1"));
  world_.add(a_job("gang").of(2).gang().gpus(1).waiting());
  world_.add(a_quota("team").limit("pods", 1), /*known=*/false);
  planner_.act(world_);
  world_.make_pods();
  planner_.act(world_);
  world_.pass(kIncompleteAfter_s);
  planner_.act(world_);
  ASSERT_TRUE(world_.job("gang").suspended);
  EXPECT_EQ(world_.performed.back().decision.reason, kPodsRejected);
}

TEST_F(HandOverTest, JobsOfOneNamespaceShareItsQuotaInOnePlanAndInTheNext) {
  for (const char* node : {"n1", "n2", "n3", "n4"})
    world_.add(a_node(node));
  world_.add(a_quota("team").limit(test::kGpu, 6));
  for (const char* name : {"a", "b", "c", "other/d"})
    world_.add(a_job(name).gpus(3).waiting());
  planner_.act(world_);  // nothing of the release is in the quota's `used` yet
  const auto released = [&] {
    std::vector<std::string> names;
    for (const auto& [key, job] : world_.jobs())
      if (!job.suspended) names.push_back(key.name);
    return names;
  };
  EXPECT_EQ(released(), (std::vector<std::string>{"a", "b", "d"}));
  planner_.act(world_);
  EXPECT_EQ(released(), (std::vector<std::string>{"a", "b", "d"}));
  world_.make_pods();
  settle(planner_);
  EXPECT_EQ(bound("a") + bound("b") + bound("d"), 3);
  world_.finish("a");
  settle(planner_);
  EXPECT_EQ(bound("c"), 1);
}

TEST_F(HandOverTest, WhoWaitsForAQuotaIsToldSoAndHoldsNobodyUp) {
  world_.add(a_node("n1"));
  world_.add(a_quota("team").limit(test::kGpu, 2));
  world_.add(a_job("big").gpus(4).created(1).waiting());
  world_.add(a_job("other/small").gpus(4).created(2).waiting());
  TaskMenus menus;
  const ClusterSnapshot snapshot = world_.snapshot();
  const Queue queue = make_queue(snapshot, planner_.options(world_.now_s()), menus);
  ASSERT_TRUE(queue.task(0).hindrance);
  EXPECT_EQ(queue.task(0).hindrance->reason, kQuotaExceeded);
  EXPECT_FALSE(queue.task(1).hindrance);
  settle(planner_);
  EXPECT_EQ(bound("small"), 1);
  EXPECT_EQ(bound("big"), 0);
}

// Its own choice of shape is made among what the quota admits.
TEST_F(HandOverTest, AShapeIsChosenWithinTheQuota) {
  world_.add(a_node("n1").of("K80", 4));
  world_.add(a_quota("team").limit(test::kGpu, 2));
  planner_.know(
      WorkloadProfiles({{"bert", GpuType("K80"), {"S", {10, 1, 0, 0.1, 1.4}}, 30, 12, {}, ""}}));
  auto job = a_job("auto").gpus(4).waiting().trains("bert", 64, 1000);
  job.intent().any_placement = true;
  world_.add(job);
  settle(planner_);
  ASSERT_EQ(bound("auto"), 1);
  EXPECT_LE(world_.job("auto").pod_requests.gpu_count(test::kGpu), 2);
}

TEST_F(HandOverTest, AutoChoosesOnlyShapesThatDivideTheBatch) {
  world_.add(a_node("n1").of("K80", 4));
  planner_.know(
      WorkloadProfiles({{"bert", GpuType("K80"), {"S", {10, 1, 0, 0.1, 1.4}}, 30, 12, {}, ""}}));
  auto job = a_job("auto").gpus(1).waiting().trains("bert", 250, 1000);
  job.intent().any_placement = true;
  world_.add(job);
  settle(planner_);
  ASSERT_EQ(bound("auto"), 1);
  EXPECT_EQ(250 % world_.job("auto").pod_requests.gpu_count(test::kGpu), 0);
}

// API servers before 1.36. What the first release left in a template could never be taken back.
TEST_F(HandOverTest, WhereTemplatesAreFixedGatedPodsKeepTheTypeOfTheirPlan) {
  world_.add(a_node("k1").of("K80", 4).label("nvidia.com/gpu.product", "Tesla-K80"));
  world_.add(a_job("train").gpus(4).waiting());
  planner_.find_templates_fixed();
  settle(planner_);
  EXPECT_EQ(written(), (std::vector<std::string>{"release", "nominate", "lift"}))
      << "there is one type only";
  world_.finish("train");
  world_.performed.clear();

  world_.node("k1").unschedulable = true;
  world_.add(a_node("t1").of("T4", 4).label("nvidia.com/gpu.product", "Tesla-T4"));
  world_.add(a_job("next").of(2).gang().gpus(2).waiting());
  settle(planner_);
  EXPECT_EQ(written(), (std::vector<std::string>{"release", "nominate", "nominate", "narrow",
                                                 "narrow", "lift", "lift"}));
  EXPECT_FALSE(world_.performed.front().as<ReleaseJob>()->shape.affinity_terms)
      << "the template stays as it is";
  const Pod& pod = world_.pods().at({"default", "next-0"});
  ASSERT_EQ(pod.constraints->affinity_terms.size(), 1U);
  EXPECT_EQ(pod.constraints->affinity_terms[0][0].values, (std::vector<std::string>{"Tesla-T4"}));
}

TEST_F(HandOverTest, WhereTemplatesAreFixedASecondReleaseMayChooseAnotherType) {
  for (const char* type : {"K80", "T4"})
    world_.add(a_node(type).of(type, 4).label("nvidia.com/gpu.product", type));
  planner_.find_templates_fixed();
  world_.add(a_job("train").gpus(4).waiting());
  settle(planner_, /*bind=*/false);
  const std::string first = world_.job("train").plan->gpu_type.str();
  world_.pods().clear();
  world_.remove_node(first);  // and no other one of its type
  world_.make_pods();
  planner_.act(world_);
  ASSERT_TRUE(world_.job("train").suspended);
  world_.make_pods();
  world_.pass(kMostBackoff_s);
  settle(planner_);
  ASSERT_EQ(bound("train"), 1);
  EXPECT_NE(world_.job("train").plan->gpu_type.str(), first);
}

TEST_F(HandOverTest, WhereTemplatesAreFixedOnlyTheNodeCountIsWritten) {
  planner_.know(
      WorkloadProfiles({{"bert", GpuType("K80"), {"S", {10, 1, 0, 0.1, 1.4}}, 30, 12, {}, ""}}));
  for (const char* node : {"n1", "n2"})
    world_.add(a_node(node).of("K80", 1));
  planner_.find_templates_fixed();
  auto job = a_job("auto").gang().gpus(2).waiting().trains("bert", 64, 1000);
  job.of(1);
  job.intent().placements = {Placement{2, 1}};
  world_.add(job);
  planner_.act(world_);
  ASSERT_EQ(world_.performed.size(), 1U);
  const auto& reshape = world_.performed.front().as<ReleaseJob>()->shape.reshape;
  ASSERT_TRUE(reshape);
  EXPECT_EQ(reshape->parallelism, 2);
  EXPECT_FALSE(reshape->in_template);
  EXPECT_EQ(reshape->container, "");
}

TEST_F(HandOverTest, AfterABackOffThePlannerIsToldWhenToLookAgain) {
  planner_.memory.backoff[Uid("late")].until_s = 70;
  planner_.memory.backoff[Uid("soon")].until_s = 40;
  EXPECT_EQ(planner_.memory.next_let_in_s(30), 40);
  EXPECT_EQ(planner_.memory.next_let_in_s(40), 70);
  EXPECT_EQ(planner_.memory.next_let_in_s(70), std::numeric_limits<double>::infinity());
}

TEST_F(HandOverTest, WhoIsSuspendedAgainWaitsUntilItsPodsAreGone) {
  world_.add(a_node("n1"));
  world_.add(a_job("train").gpus(1).waiting());
  Job& job = world_.job("train");
  job.active = 1;
  EXPECT_EQ(planner_.act(world_), 0U);
  job.active = 0;
  job.halted = false;
  EXPECT_EQ(planner_.act(world_), 0U);
  job.halted = true;
  EXPECT_EQ(planner_.act(world_), 1U);
}

TEST_F(HandOverTest, ANewPlannerGoesOnWhereTheLastOneDied) {
  for (std::size_t deaths_after = 0; deaths_after < 10; ++deaths_after) {
    test::HandOverWorld world;
    for (const char* node : {"n1", "n2"})
      world.add(a_node(node));
    world.add(a_job("gang").of(2).gang().gpus(4).waiting());
    std::int64_t epoch = 1;
    std::size_t writes = 0;
    auto planner = std::make_unique<test::WorldPlanner>(epoch);
    for (int round = 0; round < 20; ++round) {
      auto wanted = planner->hand_over(world.snapshot(), world.now_s());
      if (wanted.empty()) wanted = planner->plan(world.snapshot(), world.now_s());
      for (const OwnWrite& write : wanted) {
        if (writes++ == deaths_after) {
          planner = std::make_unique<test::WorldPlanner>(++epoch);
          break;
        }
        world.perform(write);
      }
      world.make_pods();
      world.bind();
    }
    EXPECT_EQ(epoch, deaths_after < 5 ? 2 : 1);
    for (const auto& [key, pod] : world.pods())
      EXPECT_TRUE(pod.bound()) << key.str() << " after " << deaths_after;
    EXPECT_EQ(world.pods().size(), 2U) << deaths_after;
  }
}

TEST_F(HandOverTest, NominationsWithoutAPlanAreCleared) {
  world_.add(a_node("n1"));
  world_.add(a_pod("left-over").gpus(4).gated().managed().nominated("n1"));
  world_.pods().begin()->second.foreign_gate = true;  // nobody will lift it
  planner_.act(world_);
  EXPECT_EQ(written(), (std::vector<std::string>{"clear_nomination"}));
  EXPECT_TRUE(world_.pods().begin()->second.nominated_node.empty());
}

TEST_F(HandOverTest, AClearedNominationIsMadeAgainBeforeAnythingIsLifted) {
  for (const char* node : {"n1", "n2"})
    world_.add(a_node(node));
  world_.add(a_job("gang").of(2).gang().gpus(4).waiting());
  planner_.act(world_);
  world_.make_pods();
  planner_.act(world_);
  world_.pods().begin()->second.nominated_node = NodeName();  // stock preemption did it
  planner_.act(world_);
  EXPECT_EQ(lifted(), 0);
  planner_.act(world_);
  EXPECT_EQ(lifted(), 2);
}

TEST_F(HandOverTest, ALostNodeIsReplacedByOneOfItsType) {
  world_.add(a_node("n1").of("A100", 4));
  world_.add(a_job("train").gpus(4).waiting());
  planner_.act(world_);
  world_.make_pods();
  world_.node("n1").unschedulable = true;
  world_.add(a_node("n2").of("K80", 4));
  world_.add(a_node("n3").of("A100", 4));
  settle(planner_);
  ASSERT_EQ(bound("train"), 1);
  EXPECT_EQ(world_.pods().begin()->second.node, NodeName("n3"));
  EXPECT_EQ(world_.job("train").plan->nodes, (std::vector<NodeName>{NodeName("n3")}));
}

SchedulingConstraints apart() {
  SchedulingConstraints constraints;
  constraints.own_spread.most = 1;
  return constraints;
}

TEST_F(HandOverTest, PodsThatMayNotShareANodeGetOneEachAndSoDoesWhoLosesIts) {
  for (const char* node : {"n1", "n2", "n3"})
    world_.add(a_node(node).of("A100", 4));
  world_.add(a_job("train").of(2).gang().gpus(1).constrained(apart()).waiting());
  planner_.act(world_);
  EXPECT_EQ(world_.job("train").plan->shape, (Placement{2, 1}));
  world_.make_pods();
  const NodeName lost = world_.job("train").plan->nodes.front();
  world_.node(lost.str()).unschedulable = true;
  settle(planner_);
  EXPECT_EQ(bound("train"), 2);
  for (const auto& [key, pod] : world_.pods())
    EXPECT_NE(pod.node, lost);
}

TEST_F(HandOverTest, WhereNoTwoOfThemMayShareANodeAGangOfMoreThanTheNodesFitsNowhere) {
  world_.add(a_node("n1").of("A100", 4));
  world_.add(a_job("train").of(2).gang().gpus(1).constrained(apart()).waiting());
  settle(planner_);
  EXPECT_EQ(written(), std::vector<std::string>{});
}

TEST_F(HandOverTest, PodsThatSpreadEvenlyMayBeMoreOnANodeWhereEveryNodeHasAsMany) {
  SchedulingConstraints even;
  even.own_spread.skew = 1;
  for (const char* node : {"n1", "n2"})
    world_.add(a_node(node).of("A100", 4));
  world_.add(a_job("two").of(2).gang().gpus(1).constrained(even).waiting());
  settle(planner_);
  EXPECT_EQ(world_.job("two").plan->shape, (Placement{2, 1}));
  world_.finish("two");
  world_.add(a_job("four").of(4).gang().gpus(1).constrained(even).waiting());
  settle(planner_);
  EXPECT_EQ(world_.job("four").plan->shape, (Placement{2, 2}));
}

// The plan of `a` holds nothing any more: nobody has looked for a minute.
TEST_F(HandOverTest, WhatOneTaskIsGivenIsNotGivenToTheNext) {
  for (const char* node : {"n1", "n2"})
    world_.add(a_node(node));
  for (const char* name : {"a", "b"})
    world_.add(a_job(name).gpus(4).waiting());
  planner_.act(world_);
  ASSERT_EQ(world_.job("a").plan->nodes, (std::vector<NodeName>{NodeName("n1")}));
  world_.pass(kPlanHold_s + 1);
  world_.make_pods();
  world_.remove_node("n2");
  world_.performed.clear();
  test::WorldPlanner next(2);
  next.act(world_);
  EXPECT_EQ(written(), (std::vector<std::string>{"nominate", "suspend"}));
}

// kube-scheduler was too slow: it has the pod, and no node for it.
TEST_F(HandOverTest, ALostNodeIsReplacedAtOnceAlsoWhenTheGateIsGone) {
  world_.add(a_node("n1").of("A100", 4));
  world_.add(a_job("train").gpus(4).waiting());
  settle(planner_, /*bind=*/false);
  ASSERT_EQ(lifted(), 1);
  world_.remove_node("n1");
  world_.add(a_node("n2").of("A100", 4));
  world_.pass(1);
  settle(planner_);
  ASSERT_EQ(bound("train"), 1);
  EXPECT_EQ(world_.pods().begin()->second.node, NodeName("n2"));
}

TEST_F(HandOverTest, WithoutAnotherNodeTheTaskGoesBackIntoTheQueue) {
  world_.add(a_node("n1"));
  world_.add(a_job("train").gpus(4).waiting());
  planner_.act(world_);
  world_.make_pods();
  world_.remove_node("n1");
  planner_.act(world_);
  EXPECT_TRUE(world_.job("train").suspended);
  EXPECT_EQ(world_.job("train").plan, nullptr);
  EXPECT_EQ(planner_.memory.backoff.at(test::job_uid("train")).reason, kNodesLost);
}

TEST_F(HandOverTest, WhereOnlyRoomIsMissingATaskWaitsForItAWhile) {
  world_.add(a_node("n1"));
  world_.add(a_job("train").gpus(4).waiting());
  planner_.act(world_);
  world_.make_pods();
  world_.add(a_pod("stranger").gpus(4).on("n1"));
  planner_.act(world_);
  EXPECT_FALSE(world_.job("train").suspended);
  world_.pass(kIncompleteAfter_s);
  planner_.act(world_);
  EXPECT_TRUE(world_.job("train").suspended);
}

TEST_F(HandOverTest, APodThatIsNotBoundMovesTwiceAndIsThenSuspended) {
  for (const char* node : {"n1", "n2", "n3"})
    world_.add(a_node(node));
  world_.add(a_job("train").gpus(4).waiting());
  std::set<NodeName> tried;
  for (int round = 0; round < 3; ++round) {
    settle(planner_, false);
    tried.insert(world_.pods().begin()->second.nominated_node);
    ASSERT_FALSE(world_.job("train").suspended);
    world_.pass(kUnboundAfter_s);
  }
  EXPECT_GE(tried.size(), 2U);
  planner_.act(world_);
  EXPECT_TRUE(world_.job("train").suspended);
  EXPECT_EQ(planner_.memory.backoff.at(test::job_uid("train")).reason, kNotBound);
}

class RefusedTest : public HandOverTest {
 protected:
  // By rules that no plan knows, n1 is nothing for it, and there is no other node.
  void refuse(bool looked_at = true) {
    world_.add(a_node("n1"));
    world_.add(a_job("train").gpus(4).waiting());
    for (int round = 0; round < 3; ++round) {
      settle(planner_, false);
      world_.pods().begin()->second.unschedulable =
          looked_at ? std::optional<std::string>("0/3 nodes") : std::nullopt;
      world_.pass(kUnboundAfter_s);
    }
    planner_.act(world_);
    EXPECT_TRUE(world_.job("train").suspended);
    settle(planner_, false);  // its pods go
    world_.pass(kLeastBackoff_s + 1);
  }
  NodeName nominated() {
    return world_.pods().empty() ? NodeName() : world_.pods().begin()->second.nominated_node;
  }
};

TEST_F(RefusedTest, WhereKubeSchedulerFoundNoPlaceATaskIsNotPlannedAgain) {
  refuse();
  world_.add(a_node("n2"));
  world_.add(a_job("other").gpus(4).waiting());
  settle(planner_, false);
  for (const auto& [key, pod] : world_.pods())
    EXPECT_EQ(pod.nominated_node.str(), pod.owner->name == "train" ? "n2" : "n1");
}

TEST_F(RefusedTest, AfterAWhileItIsTriedAgain) {
  refuse();
  const RefusedNodes refused = planner_.memory.refused_nodes(world_.snapshot(), world_.now_s());
  EXPECT_EQ(refused.at(test::job_uid("train")).at(NodeName("n1")).said, "0/3 nodes");
  settle(planner_, false);
  EXPECT_EQ(nominated(), NodeName());
  world_.pass(kRefusedFor_s);
  settle(planner_, false);
  EXPECT_EQ(nominated().str(), "n1");
}

TEST_F(RefusedTest, AKubeSchedulerThatHasNotLookedRefusesNothing) {
  refuse(/*looked_at=*/false);
  settle(planner_, false);
  EXPECT_EQ(nominated().str(), "n1");
}

TEST_F(HandOverTest, APodThatMissedItsNodeIsNominatedElsewhereAtOnce) {
  for (const char* node : {"n1", "n2"})
    world_.add(a_node(node));
  world_.add(a_job("train").gpus(4).waiting());
  settle(planner_, /*bind=*/false);
  const NodeName first = world_.pods().begin()->second.nominated_node;
  world_.pass(kUnboundAfter_s);
  planner_.act(world_);  // another plan
  planner_.act(world_);  // and the pod follows it
  EXPECT_NE(world_.pods().begin()->second.nominated_node, first);
}

// kube-scheduler clears the nominations of pods that fit nowhere.
TEST_F(HandOverTest, WhereOnePodOfAGangWasRefusedTheOthersAreNotTriedNext) {
  for (const char* node : {"n1", "n2", "n3", "n4"})
    world_.add(a_node(node));
  world_.add(a_job("train").of(2).gpus(4).gang().waiting());
  settle(planner_, /*bind=*/false);
  std::set<NodeName> first;
  for (auto& [key, pod] : world_.pods()) {
    first.insert(std::exchange(pod.nominated_node, NodeName()));
    pod.unschedulable = "0/4 nodes";
  }
  ASSERT_EQ(first.size(), 2U);
  world_.pass(kUnboundAfter_s);
  settle(planner_, false);
  for (const auto& [key, pod] : world_.pods())
    EXPECT_FALSE(first.contains(pod.nominated_node)) << pod.nominated_node.str();
}

TEST_F(HandOverTest, AReplacementTakesThePlaceOfItsPredecessor) {
  for (const char* node : {"n1", "n2"})
    world_.add(a_node(node));
  world_.add(a_job("gang").of(2).gang().gpus(4).waiting());
  settle(planner_);
  const ObjectKey lost = world_.pods().begin()->first;
  const NodeName place = world_.pods().begin()->second.node;
  world_.pass(3600);
  world_.pods().erase(lost);
  world_.make_pods();
  world_.add(a_job("other").gpus(4).waiting());
  settle(planner_);
  EXPECT_EQ(world_.pods().at(lost).node, place);
  EXPECT_EQ(bound("gang"), 2);
  EXPECT_EQ(bound("other"), 0);
}

TEST_F(HandOverTest, TheControllersBackOffCostsNoPlace) {
  for (const char* node : {"n1", "n2"})
    world_.add(a_node(node));
  world_.add(a_job("gang").of(2).gang().gpus(4).waiting());
  settle(planner_);
  world_.pass(3600);
  world_.lose("gang", world_.pods().begin()->first);
  world_.add(a_job("other").gpus(4).waiting());
  settle(planner_);
  world_.pass(kReplacedWithin_s - 1);
  settle(planner_);
  EXPECT_EQ(bound("other"), 0);
  world_.make_pods();
  settle(planner_);
  EXPECT_EQ(bound("gang"), 2);
}

// Both fit by themselves. Stock would run one of them, too.
TEST_F(HandOverTest, OnePlanGivesTheCpuOfANodeOnce) {
  world_.add(a_node("n1").of("A100", 8).cpus(64));
  for (const char* name : {"a", "b"})
    world_.add(a_job(name).gpus(1).cpus(40).waiting());
  world_.add(a_job("small").gpus(1).cpus(4).waiting());
  settle(planner_);
  EXPECT_EQ(bound("a") + bound("b"), 1);
  EXPECT_EQ(bound("small"), 1);
  EXPECT_EQ(world_.count_of<SuspendJob>(), 0);
  world_.finish(bound("a") == 1 ? "a" : "b");
  settle(planner_);
  EXPECT_EQ(bound("a") + bound("b"), 1) << "now the other one";
}

TEST_F(HandOverTest, AMovedPlanKeepsTheNodesOfMembersThatDoNotExistYet) {
  for (const char* node : {"n1", "n2", "n3"})
    world_.add(a_node(node));
  world_.add(a_job("gang").of(3).gang().gpus(4).waiting());
  settle(planner_);
  ASSERT_EQ(bound("gang"), 3);
  world_.pass(3600);
  const auto pods = world_.pods();
  const auto moves = pods.begin();
  const auto later = std::next(moves);
  const NodeName lost = moves->second.node;
  world_.lose("gang", moves->first);
  world_.make_pods();
  world_.lose("gang", later->first);
  world_.node(lost.str()).unschedulable = true;
  world_.add(a_node("n4"));
  settle(planner_);
  std::set<NodeName> expected = {NodeName("n4")};
  for (const auto& [key, pod] : pods)
    if (pod.node != lost) expected.insert(pod.node);
  const std::vector<NodeName>& nodes = world_.job("gang").plan->nodes;
  EXPECT_EQ(std::set<NodeName>(nodes.begin(), nodes.end()), expected);
  world_.add(a_job("other").gpus(4).waiting());
  settle(planner_);
  EXPECT_EQ(bound("other"), 0) << "the last node is its member's";
}

TEST_F(HandOverTest, AGangWhoseMemberHasNoPlaceAfterTenMinutesGoesBackAsAWhole) {
  for (const char* node : {"n1", "n2"})
    world_.add(a_node(node));
  world_.add(a_job("gang").of(2).gang().gpus(4).waiting());
  settle(planner_);
  const auto lost = *world_.pods().begin();
  world_.node(lost.second.node.str()).unschedulable = true;
  world_.lose("gang", lost.first);
  world_.make_pods();
  settle(planner_);
  world_.pass(kReplacedWithin_s - 1);
  settle(planner_);
  EXPECT_FALSE(world_.job("gang").suspended);
  world_.pass(1);
  planner_.act(world_);
  EXPECT_TRUE(world_.job("gang").suspended);
  EXPECT_EQ(planner_.memory.backoff.at(test::job_uid("gang")).reason, reason::kNotReplaced);
}

TEST_F(HandOverTest, AGangWhoseMemberIsNotMadeAgainWithinTenMinutesGoesBackAsAWhole) {
  for (const char* node : {"n1", "n2"})
    world_.add(a_node(node));
  world_.add(a_job("gang").of(2).gang().gpus(4).waiting());
  settle(planner_);
  world_.add(a_quota("team").limit("pods", 1));  // lowered while it runs
  world_.lose("gang", world_.pods().begin()->first);
  world_.make_pods();
  settle(planner_);
  world_.pass(kReplacedWithin_s - 1);
  settle(planner_);
  EXPECT_FALSE(world_.job("gang").suspended);
  world_.pass(1);
  planner_.act(world_);
  EXPECT_TRUE(world_.job("gang").suspended);
  EXPECT_EQ(planner_.memory.backoff.at(test::job_uid("gang")).reason, reason::kNotReplaced);
}

TEST_F(HandOverTest, AJobWhosePodsHaveEndedIsNotSuspended) {
  world_.add(a_node("n1"));
  world_.add(a_job("short").gpus(4).waiting());
  settle(planner_);
  world_.pass(5);
  world_.pods().clear();  // succeeded, and the Job does not know it yet
  world_.add(a_job("next").gpus(4).waiting());
  planner_.act(world_);
  EXPECT_FALSE(world_.job("short").suspended);
  EXPECT_FALSE(world_.job("next").suspended) << "freed GPUs wait for nobody";
}

TEST_F(HandOverTest, APlanOfALaterEpochIsLeftAlone) {
  world_.add(a_node("n1"));
  world_.add(a_job("train").gpus(4).waiting());
  test::WorldPlanner later(7);
  later.act(world_);
  world_.make_pods();
  EXPECT_EQ(planner_.act(world_), 0U);
  EXPECT_EQ(later.act(world_), 1U);
}

TEST_F(HandOverTest, PodsOfAGangWithoutAJobCarryThePlanThemselves) {
  world_.add(a_node("n1"));
  for (const char* name : {"a", "b"})
    world_.add(a_pod(name).gpus(2).gated().managed().in_gang("g", 2));
  settle(planner_);
  EXPECT_EQ(written(),
            (std::vector<std::string>{"plan", "plan", "nominate", "nominate", "lift", "lift"}));
  EXPECT_EQ(world_.pods().at({"default", "b"}).node, NodeName("n1"));
}

TEST_F(HandOverTest, AnIncompleteGangOfPodsWaits) {
  world_.add(a_node("n1"));
  world_.add(a_pod("a").gpus(1).gated().managed().in_gang("g", 2));
  EXPECT_EQ(planner_.act(world_), 0U);
}

TEST_F(HandOverTest, JobsWhosePodsStandAloneAreOpenedAndTheirPodsQueue) {
  world_.add(a_node("n1"));
  world_.add(a_job("many").of(6).gpus(1).waiting());
  settle(planner_);
  EXPECT_EQ(bound("many"), 4);
}

// An autoscaler passes over nominated pods, so it has no plan until the node is there.
TEST_F(HandOverTest, WhatWasLetGoIsPlannedAndNominatedOnceItsNodeIsThere) {
  QueueRulebook queues;
  queues.named["grows"].scale_up = true;
  planner_.follow(&queues);
  world_.add(a_node("n1"));
  auto big = a_pod("big").gpus(8).gated().managed();
  big.intent().queue = "grows";
  world_.add(big);
  world_.add(a_job("behind").gpus(8).waiting().created(5));
  settle(planner_);
  EXPECT_EQ(written(), (std::vector<std::string>{"lift"}));
  world_.add(a_node("n2").of("A100", 8));
  settle(planner_);
  EXPECT_EQ(written(), (std::vector<std::string>{"lift", "plan", "nominate"}));
  EXPECT_EQ(world_.pods().at({"default", "big"}).node, NodeName("n2"));
}

}  // namespace
}  // namespace slackline::core

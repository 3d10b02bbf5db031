// Pods without a Job make room for others: they are evicted, and a controller makes new ones, which
// wait in the queue. Rule 9 of docs/RELIABILITY.md, in a small world.
#include <gtest/gtest.h>

#include "slackline/core/cluster/ending_pods.h"
#include "slackline/core/cluster/room_wait.h"
#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_job;
using test::a_node;
using test::a_pod;
using test::HandOverWorld;
using test::JobBuilder;
using test::PodBuilder;
using test::WorldPlanner;

using Words = std::vector<std::string>;

class EvictionTest : public testing::Test {
 protected:
  PodBuilder replica(const std::string& name) const {
    PodBuilder pod =
        a_pod(name).gpus(8).managed().gated().owned_by("ReplicaSet", "set").created(world_.now_s());
    pod.intent().expected_duration_s = 86400;
    return pod;
  }

  // On a node each, for that long.
  void run(const std::vector<PodBuilder>& pods, double for_s = 600) {
    int node = 0;
    for (const PodBuilder& pod : pods) {
      world_.add(a_node("n" + std::to_string(++node)).of("", 8));
      world_.add(pod);
    }
    ASSERT_TRUE(planner_.settle(world_));
    for (const auto& [key, pod] : world_.pods())
      ASSERT_TRUE(pod.bound()) << key.str();
    world_.pass(for_s);
    world_.performed.clear();
  }

  void arrive(const std::string& name, std::int64_t gpus = 8) {
    JobBuilder job = a_job(name).gpus(gpus).waiting().created(world_.now_s());
    job.intent().expected_duration_s = 600;
    job.intent().qos_class = QosClass::kUrgent;
    world_.add(job);
  }

  const Pod& pod(const std::string& name) { return world_.pods().at({"default", name}); }
  bool has(const std::string& name) { return world_.pods().contains({"default", name}); }
  std::int64_t evictions() const { return world_.count_of<EvictPod>(); }

  HandOverWorld world_;
  WorldPlanner planner_{1, "default"};
};

TEST_F(EvictionTest, APodIsToldAndEvictedAndItsReplacementComesBack) {
  run({replica("web")});
  arrive("urgent");
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(world_.written(), (Words{"tell_of_stop", "evict", "release", "nominate", "lift"}));
  const auto* evict = world_.performed[1].as<EvictPod>();
  ASSERT_NE(evict, nullptr);
  EXPECT_EQ(evict->asker.name, "urgent");
  EXPECT_NEAR(evict->lost_gpu_s, 8 * 600, 1) << "nothing remembers what it saved";
  EXPECT_EQ(world_.performed[2].after, std::vector<Uid>{world_.performed[1].target.uid});
  EXPECT_EQ(world_.bound("urgent"), 1);
  EXPECT_FALSE(has("web"));
  EXPECT_TRUE(pod("web+").our_gate);

  world_.finish("urgent");
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_TRUE(pod("web+").bound());
}

// Also by the next leader, which has read the notice only.
TEST_F(EvictionTest, TheRoomIsTheAskersWhileThePodEnds) {
  run({replica("one"), replica("two")});
  world_.linger("one");
  world_.linger("two");
  arrive("urgent");
  WorldPlanner next{2, "default"};
  ASSERT_EQ(planner_.act(world_), 1U) << "told";
  ASSERT_EQ(planner_.act(world_), 2U) << "evicted, and released";
  ASSERT_TRUE(next.settle(world_));
  EXPECT_EQ(evictions(), 1);
  EXPECT_EQ(world_.bound("urgent"), 0) << "its gates stay until the GPUs are free";
  TaskMenus menus;
  const ClusterSnapshot now = world_.snapshot();
  const Queue queue = make_queue(now, next.options(world_.now_s()), menus);
  const RoomWaits waits(now, queue, world_.now_s());
  for (TaskIndex task = 0; task < queue.size(); ++task) {
    if (queue.task(task).key.name != "urgent") continue;
    ASSERT_NE(waits.of(task), nullptr);
    EXPECT_EQ(waits.of(task)->tasks.size(), 1U);
  }
  world_.linger("one", false);
  world_.linger("two", false);
  world_.make_pods();
  ASSERT_TRUE(next.settle(world_));
  EXPECT_EQ(world_.bound("urgent"), 1);
  EXPECT_EQ(evictions(), 1);
}

// It was killed between the eviction and the release.
TEST_F(EvictionTest, ALeaderThatDiedAfterTheEvictionCostsNoSecondVictim) {
  run({replica("one"), replica("two")});
  world_.linger("one");
  world_.linger("two");
  arrive("urgent");
  ASSERT_EQ(planner_.act(world_), 1U);
  const auto wanted = planner_.plan(world_.snapshot(), world_.now_s());
  ASSERT_TRUE(wanted.front().is<EvictPod>());
  ASSERT_TRUE(world_.perform(wanted.front()));
  WorldPlanner next{2, "default"};
  ASSERT_TRUE(next.settle(world_));
  EXPECT_EQ(evictions(), 1);
  EXPECT_FALSE(world_.job("urgent").suspended);
}

TEST_F(EvictionTest, APodThatDoesNotEndHoldsItsGpusAgain) {
  run({replica("web")});
  world_.linger("web");
  arrive("urgent");
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_FALSE(world_.job("urgent").suspended);
  world_.pass(HandOverWorld::kGrace_s + kOverdue_s + 1);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_TRUE(world_.job("urgent").suspended) << "its room does not come";
  EXPECT_EQ(evictions(), 1);
}

TEST_F(EvictionTest, PodsThatNoControllerWouldReplaceAreNeverVictims) {
  const auto owned = [&](const std::string& kind) { return replica(kind).owned_by(kind, "its"); };
  Pod bare = replica("bare").build();
  bare.owner.reset();
  run({owned("Job"), owned("DaemonSet"), owned("PyTorchJob")});
  world_.add(a_node("n4").of("", 8));
  world_.pods()[bare.key] = bare;
  ASSERT_TRUE(planner_.settle(world_));
  ASSERT_TRUE(pod("bare").bound());
  world_.pass(600);
  arrive("urgent");
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(evictions(), 0);
  world_.add(a_node("n5").of("", 8));
  world_.add(replica("set-0").owned_by("StatefulSet", "set"));
  world_.finish("urgent");
  ASSERT_TRUE(planner_.settle(world_));
  world_.pass(600);
  arrive("second");
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(evictions(), 1);
}

TEST_F(EvictionTest, BudgetsForbid) {
  run({replica("keep").label("app", "keep"), replica("web")});
  DisruptionBudget budget;
  budget.key = {"default", "keep"};
  budget.match_labels = {{"app", "keep"}};
  world_.add(budget);
  arrive("urgent");
  arrive("second");
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_TRUE(pod("keep").bound());
  EXPECT_EQ(evictions(), 1);
}

TEST_F(EvictionTest, WhoCouldNotBeEvictedIsSparedForAWhile) {
  run({replica("one"), replica("two")});
  for (const char* name : {"one", "two"})
    planner_.book.refused.insert(pod(name).uid);
  arrive("urgent");
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_TRUE(world_.performed.empty());
  planner_.book.refused.erase(pod("two").uid);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_FALSE(has("two"));
  EXPECT_EQ(world_.bound("urgent"), 1);
}

TEST_F(EvictionTest, NobodyIsReleasedIntoRoomOfAnEvictionThatMayStillFail) {
  run({replica("web")});
  arrive("urgent");
  ASSERT_EQ(planner_.act(world_), 1U);
  const ClusterSnapshot seen = world_.snapshot();
  OwnWrites writes;
  const auto next = [&](const ClusterSnapshot& at) {
    return planner_.plan(with_writes(at, writes.writes()), world_.now_s(), writes.unanswered());
  };
  const auto wanted = next(seen);
  ASSERT_EQ(wanted.size(), 2U);
  const auto number = writes.sent(wanted.front());
  EXPECT_TRUE(next(seen).empty()) << "the release is not under way, and may not be yet";
  writes.doubtful(number, world_.now_s() + 10);
  writes.written(number, "");
  ASSERT_EQ(next(seen).size(), 1U);
  EXPECT_TRUE(next(seen).front().is<ReleaseJob>());

  // Whatever else happens to the pod: it counts as evicted until it ends.
  world_.pods().at({"default", "web"}).resource_version = "9999";
  writes.settle(world_.snapshot(), world_.now_s());
  EXPECT_EQ(writes.size(), 1U);
  world_.perform(wanted.front());
  writes.settle(world_.snapshot(), world_.now_s());
  EXPECT_TRUE(writes.empty());
}

TEST_F(EvictionTest, ThePlanOfALaterLeaderIsLeftAlone) {
  run({replica("web")});
  arrive("urgent");
  WorldPlanner earlier{0, "default"};
  ASSERT_TRUE(earlier.settle(world_));
  EXPECT_TRUE(world_.performed.empty());
}

TEST_F(EvictionTest, WhatWasLostIsChargedAndOfOneControllerThreeAreEvictedADay) {
  std::vector<PodBuilder> pods;
  for (const char* name : {"one", "two", "three", "four"})
    pods.push_back(replica(name));
  run(pods);
  for (const char* name : {"a", "b", "c", "d"})
    arrive(name);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(evictions(), 2) << "8 GPUs for 600 s each, of four GPU-hours";
  for (auto& each : planner_.book.stops)
    each.gpu_s = 0;
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(evictions(), 3) << "though two more tasks ask in one plan";
}

TEST_F(EvictionTest, WhoTakesItBackSaysSo) {
  run({replica("web")});
  arrive("urgent");
  ASSERT_EQ(planner_.act(world_), 1U);
  ASSERT_TRUE(pod("web").notice);
  world_.job("urgent").finished = true;
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_FALSE(pod("web").notice);
  ASSERT_TRUE(world_.performed.back().is<TakeBackStop>());
  EXPECT_EQ(world_.performed.back().as<TakeBackStop>()->of->kind, "Pod");
}

}  // namespace
}  // namespace slackline::core

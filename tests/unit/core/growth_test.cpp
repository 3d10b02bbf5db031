// Running tasks give a part of their GPUs away and get them back: one stop and one release each, in
// a small world. Rule 9 of docs/RELIABILITY.md.
#include "slackline/core/cluster/growth.h"

#include <gtest/gtest.h>

#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_job;
using test::a_node;
using test::HandOverWorld;
using test::JobBuilder;
using test::WorldPlanner;

const Placement kWhole{1, 4};
const Placement kHalf{1, 2};

class GrowthTest : public testing::Test {
 protected:
  GrowthTest() {
    know(planner_);
    world_.add(a_node("n1").of("K80", 4));
  }

  static void know(WorldPlanner& planner) {
    planner.know(
        WorkloadProfiles({{"bert", GpuType("K80"), {"S", {10, 1, 0, 0.1, 1.4}}, 30, 12, {}, ""}}));
  }

  // On the whole node since an hour, for a day; it may run on half of it.
  void run() {
    JobBuilder job = a_job("train").gpus(4).waiting().trains("bert", 64, 100'000);
    job.created(world_.now_s());
    job.intent().checkpoint_interval_s = 60;
    job.intent().placements = {kWhole};
    world_.add(job);
    ASSERT_TRUE(planner_.settle(world_));
    ASSERT_EQ(world_.bound("train"), 1);
    auto intent = std::make_shared<TaskIntent>(*train().intent);
    intent->placements = {kWhole, kHalf};
    train().intent = intent;
    world_.pass(3600);
    world_.performed.clear();
  }

  void arrive(const std::string& name, bool urgent = true) {
    JobBuilder job = a_job(name).gpus(2).waiting().created(world_.now_s());
    job.intent().expected_duration_s = 600;
    if (urgent) job.intent().qos_class = QosClass::kUrgent;
    world_.add(job);
  }

  // It has been shrunk for a task that is over; nobody was asked yet what comes next.
  void shrink_and_free() {
    run();
    arrive("urgent");
    ASSERT_TRUE(planner_.settle(world_));
    ASSERT_EQ(shape(), kHalf);
    world_.pass(600);
    world_.finish("urgent");
    world_.performed.clear();
  }

  Job& train() { return world_.job("train"); }
  Placement shape() { return train().plan ? train().plan->shape : Placement{}; }
  int gpus() {
    int gpus = 0;
    for (const auto& [key, pod] : world_.pods())
      if (pod.bound() && pod.owner->name == "train")
        gpus += static_cast<int>(pod.requests.gpu_count(test::kGpu));
    return gpus;
  }

  HandOverWorld world_;
  WorldPlanner planner_{1, "default,shrink=on"};
};

TEST_F(GrowthTest, ARunIsShrunkByOneStopAndOneReleaseAndKeepsItsCheckpoints) {
  run();
  arrive("urgent");
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(world_.count_of<StopJob>(), 1);
  EXPECT_EQ(world_.count_of<ReleaseJob>(), 2) << "of who asked, and of who was shrunk";
  EXPECT_EQ(world_.bound("urgent"), 1);
  EXPECT_EQ(gpus(), 2);
  const PreemptionNote& note = *train().preemptions;
  ASSERT_TRUE(note.goes_on);
  EXPECT_EQ(note.goes_on->shape, kHalf);
  EXPECT_EQ(note.goes_on->from, kWhole);
  EXPECT_EQ(note.goes_on->nodes, std::vector<NodeName>{NodeName("n1")});
  EXPECT_EQ(note.count, 1);
  EXPECT_LT(note.left, 1);
  const OwnWrite& stop = world_.performed.front();
  EXPECT_EQ(stop.decision.reason, "Shrunk");
  EXPECT_EQ(stop.as<StopJob>()->asker.name, "urgent");
}

TEST_F(GrowthTest, WithoutTheOptionItWaitsItsTurnLikeOthers) {
  run();
  WorldPlanner plain{2, "default"};
  know(plain);
  arrive("urgent");
  plain.act(world_);
  ASSERT_EQ(world_.count_of<StopJob>(), 1);
  EXPECT_FALSE(train().preemptions->goes_on);
  EXPECT_EQ(world_.performed.front().decision.reason, "Preempted");
}

TEST_F(GrowthTest, ItsPlaceIsKeptWhileItsPodsEnd) {
  run();
  world_.linger("train");
  arrive("urgent");
  ASSERT_TRUE(planner_.settle(world_));
  arrive("second", /*urgent=*/false);
  arrive("third");
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_TRUE(world_.job("second").suspended);
  EXPECT_TRUE(world_.job("third").suspended) << "nobody is stopped who does not run";
  EXPECT_TRUE(train().suspended);

  world_.linger("train", false);
  world_.make_pods();
  WorldPlanner next{2, "default,shrink=on"};  // the note is all that it knows
  know(next);
  ASSERT_TRUE(next.settle(world_));
  EXPECT_EQ(gpus(), 2);
  EXPECT_EQ(world_.bound("urgent"), 1);
}

TEST_F(GrowthTest, WhereItsNodeIsLostItWaitsItsTurn) {
  run();
  world_.linger("train");
  arrive("urgent");
  ASSERT_TRUE(planner_.settle(world_));
  world_.node("n1").unschedulable = true;
  world_.linger("train", false);
  world_.make_pods();
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_TRUE(train().suspended);
  world_.add(a_node("n2").of("K80", 4));
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_GT(gpus(), 0);
}

// A promise that nobody keeps holds no GPU for long.
TEST_F(GrowthTest, WhoDoesNotGoOnInTimeWaitsItsTurn) {
  run();
  arrive("urgent");
  planner_.act(world_);
  ASSERT_TRUE(train().suspended);
  world_.linger("train", false);
  world_.make_pods();
  train().halted = false;  // its controller does not say that it is
  arrive("second", /*urgent=*/false);
  planner_.act(world_);
  EXPECT_TRUE(world_.job("second").suspended);
  world_.pass(61);
  planner_.act(world_);
  EXPECT_FALSE(world_.job("second").suspended);
}

TEST_F(GrowthTest, ItGetsItsShapeBackOnceNobodyWaits) {
  shrink_and_free();
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(gpus(), 4);
  EXPECT_EQ(train().preemptions->count, 2);
  EXPECT_EQ(train().preemptions->by, "Grown");
  ASSERT_EQ(world_.count_of<StopJob>(), 1);
  const OwnWrite& stop = world_.performed.front();
  EXPECT_EQ(stop.decision.reason, "Grown");
  EXPECT_GT(stop.as<StopJob>()->gain.earlier_s, 0);
  world_.pass(600);
  world_.performed.clear();
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_TRUE(world_.performed.empty()) << "it has what it had";
}

TEST_F(GrowthTest, WhileOthersWaitTheyGoFirst) {
  shrink_and_free();
  JobBuilder whole = a_job("whole").gpus(4).waiting().created(world_.now_s());
  whole.intent().expected_duration_s = 600;
  world_.add(whole);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_EQ(world_.count_of<StopJob>(), 0);
  EXPECT_EQ(gpus(), 2);
}

TEST_F(GrowthTest, ARunThatHasJustBegunOrIsAboutToEndStaysAsItIs) {
  run();
  arrive("urgent");
  ASSERT_TRUE(planner_.settle(world_));
  world_.finish("urgent");
  world_.performed.clear();
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_TRUE(world_.performed.empty()) << "protected";

  auto note = std::make_shared<PreemptionNote>(*train().preemptions);
  note->left = 0.001;  // the start-up alone takes longer
  train().preemptions = note;
  world_.pass(61);
  ASSERT_TRUE(planner_.settle(world_));
  EXPECT_TRUE(world_.performed.empty()) << "a stop would cost more than it gains";
}

}  // namespace
}  // namespace slackline::core

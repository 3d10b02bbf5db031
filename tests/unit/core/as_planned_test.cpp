// A run is judged by its plan: what its owner writes while it runs makes it no dearer to stop.
#include "slackline/core/cluster/as_planned.h"

#include <functional>

#include <gtest/gtest.h>

#include "support/hand_over_world.h"

namespace slackline::core {
namespace {

using test::a_job;
using test::a_node;
using test::HandOverWorld;
using test::JobBuilder;
using test::WorldPlanner;

constexpr double kOneHour_s = 3600;

class AsPlannedTest : public testing::Test {
 protected:
  // On all of its node, for an hour of five; it saves its work all the time.
  void run_for_an_hour(JobBuilder job = a_job("run").gpus(8)) {
    world_.add(a_node("n1").of("K80", 8));
    job.intent().expected_duration_s = 5 * kOneHour_s;
    job.intent().checkpoint_interval_s = 1;
    world_.add(job.waiting().created(world_.now_s()));
    ASSERT_TRUE(planner_.settle(world_));
    ASSERT_GT(world_.bound("run"), 0);
    world_.pass(kOneHour_s);
    world_.performed.clear();
  }

  void write(const std::function<void(TaskIntent&)>& change) {
    TaskIntent intent = *world_.job("run").intent;
    change(intent);
    world_.job("run").intent = std::make_shared<const TaskIntent>(intent);
  }

  // By the next plan.
  bool is_stopped_for(JobBuilder asker) {
    world_.add(asker.waiting().created(world_.now_s()));
    world_.make_pods();
    planner_.act(world_);
    return world_.count_of<StopJob>() == 1;
  }
  bool is_stopped_for_urgent() {
    JobBuilder urgent = a_job("urgent").gpus(8);
    urgent.intent().expected_duration_s = 600;
    urgent.intent().qos_class = QosClass::kUrgent;
    return is_stopped_for(urgent);
  }
  bool is_stopped_for_a_deadline() {
    JobBuilder soon = a_job("soon").gpus(8);
    soon.intent().expected_duration_s = 600;
    soon.intent().deadline_s = world_.now_s() + 700;
    return is_stopped_for(soon);
  }

  double kept() { return 1 - world_.job("run").preemptions->left; }

  HandOverWorld world_;
  WorldPlanner planner_{1, "default"};
};

TEST_F(AsPlannedTest, APlanNotesWhatWasAskedFor) {
  run_for_an_hour();
  const PlanNote& plan = *world_.job("run").plan;
  EXPECT_EQ(plan.checkpoint_interval_s, 1);
  EXPECT_EQ(plan.work_s, 5 * kOneHour_s);
  EXPECT_EQ(plan.asked, asked_of(*world_.job("run").intent, false));
}

TEST_F(AsPlannedTest, AnotherTypeMakesNoRunImmune) {
  run_for_an_hour();
  write([](TaskIntent& intent) { intent.gpu_types = {GpuType("A100")}; });
  EXPECT_TRUE(is_stopped_for_urgent());
  EXPECT_NEAR(kept(), 0.2, 0.001);
}

TEST_F(AsPlannedTest, NorDoesItForADeadline) {
  run_for_an_hour();
  write([](TaskIntent& intent) { intent.gpu_types = {GpuType("A100")}; });
  EXPECT_TRUE(is_stopped_for_a_deadline());
}

TEST_F(AsPlannedTest, AnotherLengthMakesNoRunImmune) {
  run_for_an_hour();
  write([](TaskIntent& intent) { intent.expected_duration_s = 60; });
  EXPECT_TRUE(is_stopped_for_urgent());
  EXPECT_NEAR(kept(), 0.2, 0.001) << "of five hours";
}

TEST_F(AsPlannedTest, ALengthThatIsWrittenLaterIsNotThatOfTheRun) {
  world_.add(a_node("n1").of("K80", 8));
  world_.add(a_job("run").gpus(8).waiting().created(world_.now_s()));
  ASSERT_TRUE(planner_.settle(world_));
  world_.pass(1200);
  write([](TaskIntent& intent) { intent.expected_duration_s = 60; });
  const Queue queue = planner_.queue(world_.snapshot(), world_.now_s());
  ASSERT_EQ(queue.state().running().size(), 1U);
  EXPECT_EQ(queue.state().running_choice(0).work_s, kUnknownRun_s);
  EXPECT_FALSE(queue.task(0).length_known());
}

TEST_F(AsPlannedTest, MorePodsMakeNoRunImmune) {
  run_for_an_hour();
  world_.job("run").parallelism = 2;
  EXPECT_TRUE(is_stopped_for_urgent());
}

TEST_F(AsPlannedTest, FewerPodsMakeNoRunImmune) {
  run_for_an_hour(a_job("run").of(8).gpus(1).gang());
  ASSERT_EQ(world_.bound("run"), 8);
  Job& job = world_.job("run");
  job.parallelism = 7;
  job.completions = 7;
  world_.pods().erase({job.key.ns, "run-7"});
  const Queue queue = planner_.queue(world_.snapshot(), world_.now_s());
  ASSERT_EQ(queue.state().running().size(), 1U);
  EXPECT_EQ(queue.state().running_choice(0).shape, (Placement{1, 7}));
  EXPECT_EQ(queue.state().free().at(0, 0), 1) << "the node has no more than it has";
  EXPECT_TRUE(is_stopped_for_urgent());
}

TEST_F(AsPlannedTest, CheckpointsThatAreTakenBackStillCount) {
  run_for_an_hour();
  write([](TaskIntent& intent) { intent.checkpoint_interval_s.reset(); });
  EXPECT_TRUE(is_stopped_for_urgent());
  EXPECT_LT(world_.job("run").preemptions->lost_gpu_s, 8 * 10);
}

TEST_F(AsPlannedTest, AnOldCheckpointDoesNotTakeBackLaterOnes) {
  run_for_an_hour();
  write([&](TaskIntent& intent) { intent.last_checkpoint_s = world_.now_s() - kOneHour_s; });
  EXPECT_TRUE(is_stopped_for_urgent());
  EXPECT_LT(world_.job("run").preemptions->lost_gpu_s, 8 * 10);
}

// A plan of an older version, or of a run that nobody planned.
TEST_F(AsPlannedTest, APlanThatSaysNothingLeavesItToWhatIsWritten) {
  run_for_an_hour();
  world_.forget_what_was_asked(world_.job("run"));
  write([](TaskIntent& intent) {
    intent.expected_duration_s = 2 * kOneHour_s;
    intent.checkpoint_interval_s = 600;
  });
  const Queue queue = planner_.queue(world_.snapshot(), world_.now_s());
  ASSERT_EQ(queue.state().running().size(), 1U);
  EXPECT_EQ(queue.state().running_choice(0).work_s, 2 * kOneHour_s);
  EXPECT_EQ(queue.state().tasks()[0].checkpoint_s, 600);
}

}  // namespace
}  // namespace slackline::core

// A run is judged by its plan: what its owner writes while it runs makes it no dearer to stop.
#include "slackline/core/cluster/as_planned.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <gtest/gtest.h>

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

  std::optional<double> begun_s(const std::string& job) {
    const Queue queue = planner_.queue(world_.snapshot(), world_.now_s());
    for (const TaskIndex index : queue.state().running())
      if (index < queue.size() && queue.task(index).key.name == job)
        return queue.state().progress(index).run.started_s;
    return std::nullopt;
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

// It is released at once, and its pod waits at its gate until those of the other have ended.
TEST_F(AsPlannedTest, ARunBeginsWithItsFirstPod) {
  run_for_an_hour();
  world_.linger("run");
  ASSERT_TRUE(is_stopped_for_urgent());
  ASSERT_TRUE(planner_.settle(world_));
  world_.pass(20);
  ASSERT_FALSE(world_.job("urgent").suspended);
  ASSERT_EQ(world_.bound("urgent"), 0);
  EXPECT_EQ(begun_s("urgent"), world_.now_s()) << "nothing of it is done";
  world_.linger("run", false);
  world_.make_pods();
  ASSERT_TRUE(planner_.settle(world_));
  ASSERT_EQ(world_.bound("urgent"), 1);
  world_.pass(60);
  EXPECT_NEAR(begun_s("urgent").value_or(0), world_.now_s() - 60, 1);
}

// Of a Job that was released at 1000.
class StartedTest : public testing::Test {
 protected:
  StartedTest() { task_.job = std::make_shared<const Job>(a_job("run").started(1000).build()); }
  static PodBuilder pod(double created_s) {
    return a_pod("run-0").of_job("run").on("n1").created(created_s);
  }
  void add(const PodBuilder& pod) {
    const auto built = std::make_shared<const Pod>(pod.build());
    (built->bound() ? task_.bound : task_.pods).push_back(built);
  }

  QueueTask task_;
};

TEST_F(StartedTest, WhenTheFirstOfItsPodsDid) {
  add(pod(999).started(1160));
  add(pod(999).started(1150));
  EXPECT_EQ(started_s(task_), 1150);
}

TEST_F(StartedTest, NeverBeforeItsRelease) {
  add(pod(999).started(999));
  EXPECT_EQ(started_s(task_), 1000);
}

TEST_F(StartedTest, NotWhileItsPodsWait) {
  add(a_pod("run-0").of_job("run").gated().created(1000));
  EXPECT_EQ(started_s(task_), std::nullopt);
  add(pod(1000).phase(PodPhase::kPending));
  EXPECT_EQ(started_s(task_), std::nullopt) << "one is on its way";
}

TEST_F(StartedTest, NotAnewWithAPodThatReplacesAnother) {
  add(pod(2000).started(2010));
  EXPECT_EQ(started_s(task_), 1000);
  add(pod(1001).started(1150));
  EXPECT_EQ(started_s(task_), 1150);
}

TEST_F(StartedTest, NorWhileOnlyThatOneWaits) {
  add(a_pod("run-0").of_job("run").gated().created(2000));
  EXPECT_EQ(started_s(task_), 1000);
}

TEST_F(StartedTest, WithItsReleaseWhereItsPodsDoNotSayIt) {
  add(pod(1000));
  EXPECT_EQ(started_s(task_), 1000);
}

TEST_F(StartedTest, WithNoPodOfTheRunBefore) {
  add(pod(500).started(510));
  EXPECT_EQ(started_s(task_), 1000);
  add(a_pod("run-1").of_job("run").gated().created(1000));
  EXPECT_EQ(started_s(task_), std::nullopt);
}

}  // namespace
}  // namespace slackline::core

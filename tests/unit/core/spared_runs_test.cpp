// Why a run is not stopped for others: each reason once, beside what a task with a deadline that
// needs its place gets by the plan.
#include "slackline/core/cluster/spared_runs.h"

#include <functional>

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

constexpr double kFiveHours_s = 5 * 3600;
const std::string kPolicy = "default,budget=off";

class SparedRunsTest : public testing::Test {
 protected:
  // On all GPUs of its node, for that long.
  template <class Builder>
  void run(Builder task, double for_s = 3600) {
    world_.add(a_node("n1").of("K80", 8));
    task.intent().expected_duration_s = kFiveHours_s;
    task.intent().checkpoint_interval_s = 1;
    world_.add(task.created(world_.now_s()));
    ASSERT_TRUE(planner_.settle(world_));
    ASSERT_GT(world_.bound(), 0);
    world_.pass(for_s);
    world_.performed.clear();
  }
  static JobBuilder job() { return a_job("run").gpus(8).waiting(); }
  static PodBuilder pod() { return a_pod("run").gpus(8).managed().gated(); }
  Pod& pod_of_job() { return world_.pods().at({"default", "run-0"}); }

  void change_plan(const std::function<void(PlanNote&)>& change) {
    PlanNote plan = *world_.job("run").plan;
    change(plan);
    world_.job("run").plan = std::make_shared<const PlanNote>(plan);
  }

  std::vector<Spared> all_spared(const std::string& policy = kPolicy) {
    const ClusterSnapshot now = world_.snapshot();
    const Queue queue = planner_.queue(now, world_.now_s());
    std::vector<Spared> all =
        spared_runs(now, planner_.options(world_.now_s()), queue, *parse_policy(policy));
    for (TaskIndex task = 0; task < queue.size(); ++task)
      if (queue.task(task).plan && all[task] != Spared::kStopsNobody) {
        EXPECT_EQ(queue.state().tasks()[task].preemptible,
                  all[task] == Spared::kNo || all[task] > Spared::kDisruptionBudget)
            << "what a plan reads of it: " << to_string(all[task]);
      }
    return all;
  }
  // Of the only task.
  Spared spared(const std::string& policy = kPolicy) {
    const std::vector<Spared> all = all_spared(policy);
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? Spared::kNo : all.front();
  }

  // By the next plan, for a task with a deadline that would be late otherwise.
  bool is_stopped() {
    JobBuilder soon = a_job("soon").gpus(8).waiting().created(world_.now_s());
    soon.intent().expected_duration_s = 600;
    soon.intent().deadline_s = world_.now_s() + 700;
    world_.add(soon);
    const auto writes = planner_.plan(world_.snapshot(), world_.now_s());
    return std::any_of(writes.begin(), writes.end(), [](const OwnWrite& write) {
      return write.is<StopJob>() || write.is<TellOfStop>() || write.is<EvictPod>();
    });
  }

  void expect_spared(Spared why) {
    EXPECT_EQ(to_string(spared()), to_string(why));
    EXPECT_FALSE(is_stopped()) << to_string(why);
  }

  HandOverWorld world_;
  WorldPlanner planner_{1, kPolicy};
  QueueRulebook rules_;
};

TEST_F(SparedRunsTest, AJobThatRunsAsPlannedMayBeStopped) {
  run(job());
  EXPECT_EQ(spared(), Spared::kNo);
  EXPECT_TRUE(is_stopped());
  EXPECT_EQ(all_spared(), (std::vector<Spared>{Spared::kNo, Spared::kNo})) << "nor who waits";
}

TEST_F(SparedRunsTest, APodThatAControllerReplacesMayBeStopped) {
  run(pod().owned_by("ReplicaSet", "set"));
  EXPECT_EQ(spared(), Spared::kNo);
  EXPECT_TRUE(is_stopped());
}

TEST_F(SparedRunsTest, APodThatNobodyReplacesIsNot) {
  run(pod());
  expect_spared(Spared::kNotReplaced);
}

TEST_F(SparedRunsTest, NorAPodOfAnotherController) {
  run(pod().owned_by("RayCluster", "ray"));
  expect_spared(Spared::kNotReplaced);
}

TEST_F(SparedRunsTest, APolicyThatStopsNobodyAndAModeThatDoesNotSpareEverybody) {
  run(job());
  EXPECT_EQ(spared("fifo"), Spared::kStopsNobody);
  const ClusterSnapshot now = world_.snapshot();
  QueueOptions options = planner_.options(world_.now_s());
  options.may_stop = false;
  TaskMenus menus;
  const Queue queue = make_queue(now, options, menus);
  EXPECT_EQ(spared_runs(now, options, queue, *parse_policy(kPolicy)),
            std::vector<Spared>{Spared::kStopsNobody});
  EXPECT_FALSE(queue.state().tasks()[0].preemptible);
}

TEST_F(SparedRunsTest, ARunWithoutAPlan) {
  run(job());
  world_.lose_plan(world_.job("run"));
  expect_spared(Spared::kUnplanned);
}

TEST_F(SparedRunsTest, ACalibrationRun) {
  run(job());
  world_.job("run").calibration = CalibrationMark::kRun;
  expect_spared(Spared::kCalibration);
}

TEST_F(SparedRunsTest, AGangOfPods) {
  world_.add(a_node("n2").of("K80", 8));
  world_.add(a_pod("other").gpus(8).managed().gated().in_gang("g", 2).created(world_.now_s()));
  run(pod().in_gang("g", 2));
  ASSERT_EQ(world_.bound(), 2);
  expect_spared(Spared::kGangOfPods);
}

TEST_F(SparedRunsTest, WhatIsNotOnItsNodeYet) {
  run(job());
  pod_of_job().node = NodeName();
  expect_spared(Spared::kStarting);
}

TEST_F(SparedRunsTest, WhatEnds) {
  run(job());
  pod_of_job().deleting = true;
  expect_spared(Spared::kEnding);
}

TEST_F(SparedRunsTest, APodThatEnds) {
  run(pod().owned_by("ReplicaSet", "set"));
  world_.pods().at({"default", "run"}).deleting = true;
  expect_spared(Spared::kEnding);
}

TEST_F(SparedRunsTest, WhatTheApiServerWouldNotStop) {
  run(job());
  planner_.book.refused.insert(world_.job("run").uid);
  expect_spared(Spared::kApiRefused);
}

TEST_F(SparedRunsTest, AQueueThatIsNotPreemptible) {
  rules_.defaults.preemptible = false;
  planner_.follow(&rules_);
  run(job());
  expect_spared(Spared::kNotPreemptible);
}

// A queue that nobody configured counts for its namespace.
TEST_F(SparedRunsTest, ANamespaceThatIsNotPreemptible) {
  rules_.named["default"].preemptible = false;
  planner_.follow(&rules_);
  JobBuilder invented = job();
  invented.intent().queue = "invented";
  run(invented);
  expect_spared(Spared::kNotPreemptible);
}

TEST_F(SparedRunsTest, ADisruptionBudget) {
  run(job());
  pod_of_job().labels = {{"app", "run"}};
  DisruptionBudget budget;
  budget.key = {"default", "keep"};
  world_.add(budget);
  expect_spared(Spared::kDisruptionBudget);
}

TEST_F(SparedRunsTest, WhoseGpusAreNotThoseOfItsPlan) {
  run(job());
  change_plan([](PlanNote& plan) { plan.gpu_type = GpuType("H100"); });
  expect_spared(Spared::kNotAsPlanned);
}

TEST_F(SparedRunsTest, AnUrgentRun) {
  JobBuilder urgent = job();
  urgent.intent().qos_class = QosClass::kUrgent;
  run(urgent);
  expect_spared(Spared::kUrgent);
}

TEST_F(SparedRunsTest, WhoStartedOutOfTheGuaranteedShare) {
  run(job());
  change_plan([](PlanNote& plan) { plan.promoted = true; });
  expect_spared(Spared::kGuaranteed);
}

TEST_F(SparedRunsTest, WhoWasStoppedAsOftenAsThePolicyMay) {
  run(job());
  PreemptionNote note;
  note.count = 2;
  world_.job("run").preemptions = std::make_shared<const PreemptionNote>(note);
  EXPECT_EQ(spared(), Spared::kNo);
  EXPECT_EQ(spared(kPolicy + ",max_preempts=2"), Spared::kStoppedOften);
  note.count = 3;
  world_.job("run").preemptions = std::make_shared<const PreemptionNote>(note);
  expect_spared(Spared::kStoppedOften);
}

TEST_F(SparedRunsTest, WhoStartedAMomentAgo) {
  run(job(), 30);
  EXPECT_EQ(spared(kPolicy + ",protect=10"), Spared::kNo);
  expect_spared(Spared::kProtected);
}

TEST_F(SparedRunsTest, WhoEndsInAMoment) {
  run(job(), kFiveHours_s - 30);
  EXPECT_EQ(spared("savable-p"), Spared::kNo) << "it does not spare ends";
  EXPECT_EQ(spared("reserve,preemption=on"), Spared::kNearItsEnd);
  expect_spared(Spared::kNearItsEnd);
}

TEST(SparedTest, CodesAreOfTheirOwn) {
  for (std::size_t i = 0; i < kSpared.size(); ++i)
    EXPECT_EQ(static_cast<std::size_t>(kSpared.at(i).spared), i);
  EXPECT_EQ(spared_codes().size(), kSpared.size() - 1);
  EXPECT_EQ(to_string(Spared::kNo), "");
}

}  // namespace
}  // namespace slackline::core

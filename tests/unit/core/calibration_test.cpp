// When calibration runs are made and ended, and which.
#include "slackline/core/cluster/calibration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/model/reason.h"
#include "support/cluster_builder.h"

namespace slackline::core {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kPresent_s = 1'000'000;

Job allowed(const std::string& name = "train", const std::vector<Placement>& shapes = {}) {
  auto job = a_job(name).of(1).gang().gpus(1).trains("net", 64, 100'000).created(kPresent_s - 100);
  job.intent().placements = shapes;
  job.intent().any_placement = shapes.empty();
  Job built = job.finished().build();
  built.gpu_container = "train";
  built.calibration = CalibrationMark::kAllowed;
  return built;
}

Job a_run(const std::string& name, Placement shape, std::int64_t iterations = 100) {
  auto job = a_job(name).of(shape.d_node).gang().gpus(shape.d_gpn).created(kPresent_s - 90);
  job.trains("net", 64, iterations);
  job.intent().placements = {shape};
  job.intent().gpu_types = {GpuType("T4")};
  Job built = job.waiting().build();
  built.calibration = CalibrationMark::kRun;
  built.active_deadline_s = 600;
  return built;
}

Job running(Job run, const std::vector<std::string>& nodes) {
  run.suspended = run.suspended_by_us = run.halted = false;
  run.started_s = kPresent_s - 60;
  const auto gpus = static_cast<int>(run.pod_requests.gpu_total());
  auto plan = std::make_shared<PlanNote>(
      *test::a_plan("p1-1", {static_cast<int>(nodes.size()), gpus}, nodes));
  plan->gpu_type = GpuType("T4");
  run.plan = plan;
  return run;
}

Job ended(Job run, double took_s, bool succeeded = true) {
  run = running(std::move(run), {"n1"});
  run.finished = true;
  run.started_s = kPresent_s - 60;
  run.ended_s = *run.started_s + took_s;
  if (succeeded) run.completed_s = run.ended_s;
  return run;
}

class CalibrationTest : public testing::Test {
 protected:
  CalibrationTest() {
    rules_.own_namespace = "slackline-system";
    options_.catalog = &catalog_;
    know({});
    options_.now_wall_s = kPresent_s;
    options_.may_stop = true;
    cluster_.with(a_node("n1").of("T4", 4)).with(a_node("n2").of("T4", 4));
  }

  void know(std::vector<ProfileEntry> entries) {
    options_.predictor = std::make_shared<const Predictor>(WorkloadProfiles(std::move(entries)));
  }
  void measure(const std::vector<Placement>& shapes) {
    std::vector<ThroughputSample> samples;
    for (const Placement& shape : shapes)
      samples.push_back({"net", GpuType("T4"), 64, Layout(shape), 100, "a test"});
    options_.predictor = std::make_shared<const Predictor>(WorkloadProfiles{}, samples);
  }
  CalibrationStudy study() { return study_calibrations(cluster_.build(), options_, rules_); }
  std::string why() {
    const CalibrationStudy study = this->study();
    return study.trials.empty() && study.none.size() == 1 ? study.none.front().why : "";
  }
  std::vector<CalibrationOrder> begin() {
    const ClusterSnapshot snapshot = cluster_.build();
    Queue queue = make_queue(snapshot, options_, menus_);
    plan(queue.state(), kPresent_s, policy_);
    return begin_calibrations(snapshot, options_, queue,
                              study_calibrations(snapshot, options_, rules_).trials, rules_);
  }

  const GpuCatalog catalog_ = default_gpu_catalog();
  const Policy policy_ = *parse_policy("fifo");
  CalibrationRules rules_;
  QueueOptions options_;
  TaskMenus menus_;
  test::ClusterBuilder cluster_ = a_cluster();
};

TEST_F(CalibrationTest, OnlyOfJobsWithTheLabel) {
  Job job = allowed();
  job.calibration = CalibrationMark::kNone;
  cluster_.add(job);
  EXPECT_THAT(study().trials, IsEmpty());
  EXPECT_THAT(study().none, IsEmpty());
}

TEST_F(CalibrationTest, ThreeShapesOfWhatTheJobAllows) {
  cluster_.add(allowed());
  const auto trials = study().trials;
  ASSERT_THAT(trials, SizeIs(3));
  EXPECT_EQ(trials.front().shape, (Placement{1, 1}));
  EXPECT_EQ(trials.front().iterations, 100);
  EXPECT_GT(trials.front().bits, 1);
}

TEST_F(CalibrationTest, WithoutPlacementsOnlyAsWritten) {
  Job job = allowed();
  auto intent = std::make_shared<TaskIntent>(*job.intent);
  intent->any_placement = false;
  job.intent = intent;
  cluster_.add(job);
  const auto trials = study().trials;
  ASSERT_THAT(trials, SizeIs(1));
  EXPECT_EQ(trials.front().shape, (Placement{1, 1}));
}

TEST_F(CalibrationTest, TheYoungestJobOfAModelIsCopied) {
  Job older = allowed("older");
  older.created_s -= 1000;
  cluster_.add(older).add(allowed("younger"));
  for (const Trial& trial : study().trials)
    EXPECT_EQ(trial.from->key.name, "younger");
}

TEST_F(CalibrationTest, WhyThereIsNone) {
  cluster_.add(allowed());
  know({{"net", GpuType("T4"), {"S", {10, 1, 0, 0.1, 1.4}}, 30, 12, {}, ""}});
  EXPECT_EQ(why(), "its speed is known: fitted");
  know({{"net", GpuType("T4"), {"S", {10, 1, 0, 0.1, 1.4}}, 30, 0, {}, ""}});
  EXPECT_EQ(why(), "") << "assumed coefficients are no knowledge";
  know({});
  rules_.own_namespace = "default";
  EXPECT_THAT(why(), testing::HasSubstr("own namespace"));
}

TEST_F(CalibrationTest, WhatWasRunIsNotRunAgain) {
  cluster_.add(allowed("train", {{1, 1}, {1, 2}}));
  cluster_.add(ended(a_run("one", {1, 1}), 40)).add(a_run("two", {1, 2}));
  measure({{1, 1}});
  for (const Trial& trial : study().trials)
    EXPECT_EQ(trial.state, trial.shape.gpus() == 1 ? TrialState::kMeasured : TrialState::kWaits);
}

TEST_F(CalibrationTest, ARunThatWasTooShortIsMadeAgainWithMoreIterations) {
  cluster_.add(allowed("train", {{1, 1}})).add(ended(a_run("one", {1, 1}), 5));
  const auto trials = study().trials;
  ASSERT_THAT(trials, SizeIs(1));
  EXPECT_EQ(trials.front().state, TrialState::kWanted);
  EXPECT_EQ(trials.front().iterations, 900);
}

TEST_F(CalibrationTest, OneThatTaughtNothingIsMadeAgainAFewTimes) {
  cluster_.add(allowed("train", {{1, 1}}));
  const auto first = [&] { return study().trials.front(); };
  const auto add = [&](const char* name, std::int64_t iterations) {
    cluster_.add(ended(a_run(name, {1, 1}, iterations), 40));
    options_.now_wall_s = kPresent_s;
  };
  add("one", 100);
  EXPECT_EQ(first().state, TrialState::kMeasured) << "its sample may still come";
  options_.now_wall_s += kSampleComes_s;
  EXPECT_EQ(first().state, TrialState::kWanted);
  EXPECT_EQ(first().iterations, 200) << "its Job took 40 s, the training less";
  measure({{1, 1}});
  EXPECT_EQ(first().state, TrialState::kMeasured);
  know({});
  add("two", 200);
  add("three", 400);
  options_.now_wall_s += kSampleComes_s;
  EXPECT_EQ(first().state, TrialState::kFailed);
}

TEST_F(CalibrationTest, OneWithAnotherBatchIsNotMadeAgain) {
  Job run = ended(a_run("one", {1, 1}), 40);
  auto intent = std::make_shared<TaskIntent>(*run.intent);
  intent->batch_size = 32;
  run.intent = intent;
  cluster_.add(allowed("train", {{1, 1}})).add(run);
  options_.now_wall_s += 3600;
  EXPECT_EQ(study().trials.front().state, TrialState::kMeasured);
}

// A batch is less than the GPUs of one copy of the model.
TEST_F(CalibrationTest, ShapesHoldWholeReplicas) {
  Job job = allowed();
  auto intent = std::make_shared<TaskIntent>(*job.intent);
  intent->batch_size = 2;
  intent->model_parallel = 4;
  job.intent = intent;
  cluster_.add(job);
  std::vector<Placement> shapes;
  for (const Trial& trial : study().trials)
    shapes.push_back(trial.shape);
  EXPECT_THAT(shapes, testing::UnorderedElementsAre(Placement{1, 4}, Placement{2, 4}));
}

TEST_F(CalibrationTest, OneThatFailsTwiceIsGivenUp) {
  cluster_.add(allowed("train", {{1, 1}})).add(ended(a_run("one", {1, 1}), 40, false));
  EXPECT_EQ(study().trials.front().state, TrialState::kWanted);
  cluster_.add(ended(a_run("two", {1, 1}), 40, false));
  EXPECT_EQ(study().trials.front().state, TrialState::kFailed);
}

TEST_F(CalibrationTest, OneThatWasEndedForOthersIsMadeAgain) {
  cluster_.add(allowed("train", {{1, 1}}));
  for (const char* name : {"one", "two"}) {
    Job run = ended(a_run(name, {1, 1}), 40, false);
    run.active_deadline_s = kEndedBy_s;
    cluster_.add(run);
  }
  EXPECT_EQ(study().trials.front().state, TrialState::kWanted);
}

TEST_F(CalibrationTest, TheyBeginSideBySideOnIdleGpus) {
  cluster_.add(allowed("train", {{1, 1}, {1, 2}, {1, 4}}));
  const auto orders = begin();
  ASSERT_THAT(orders, SizeIs(3));
  EXPECT_EQ(orders.front().deadline_s, 600);
  EXPECT_NE(orders[0].name, orders[1].name);
  EXPECT_THAT(orders[0].name, testing::StartsWith("train-cal-"));
  EXPECT_EQ(begin()[0].name, orders[0].name) << "whoever takes over makes no second one";
}

TEST_F(CalibrationTest, NoneBeginsWhileAnybodyWaits) {
  cluster_.add(allowed("train", {{1, 1}}));
  ASSERT_THAT(begin(), SizeIs(1));
  cluster_.with(a_pod("stock").gpus(1));
  EXPECT_THAT(begin(), IsEmpty()) << "a pod of kube-scheduler's";
}

TEST_F(CalibrationTest, ATaskThatFindsNoRoomStopsTheRest) {
  cluster_.add(allowed("train", {{1, 1}}));
  const auto large = [](const char* name) {
    return a_job(name).of(2).gang().gpus(4).waiting().created(kPresent_s);
  };
  cluster_.with(large("first")).with(large("second"));
  EXPECT_THAT(begin(), IsEmpty());
}

// They would wait, be removed unstarted, and be made again.
TEST_F(CalibrationTest, WhatAQuotaRefusesDoesNotBegin) {
  cluster_.add(allowed("train", {{1, 1}, {1, 4}}));
  ASSERT_THAT(begin(), SizeIs(2));
  cluster_.with(test::a_quota("gpus").limit(test::kGpu, 4));
  const auto orders = begin();
  ASSERT_THAT(orders, SizeIs(1)) << "together they are too many";
  cluster_.with(a_pod("runs").gpus(4).on("n1"));
  EXPECT_THAT(begin(), IsEmpty());
}

TEST_F(CalibrationTest, TheyUseNoMoreThanTheyMayInADay) {
  cluster_.add(allowed("train", {{1, 1}, {1, 4}}));
  rules_.gpu_minutes_per_day = 20;
  double used_gpu_s = 0;
  for (const CalibrationOrder& order : begin())
    used_gpu_s += static_cast<double>(order.deadline_s) * order.shape.gpus();
  EXPECT_GT(used_gpu_s, 0);
  EXPECT_LE(used_gpu_s, 20 * 60);
  rules_.gpu_minutes_per_day = 0;
  EXPECT_THAT(begin(), IsEmpty());
}

TEST_F(CalibrationTest, WhatIsOverCountsForItsTimeAndWhatIsNotForItsLimit) {
  cluster_.add(ended(a_run("over", {1, 2}), 50)).add(a_run("waits", {1, 1}));
  EXPECT_DOUBLE_EQ(calibration_gpu_s_left(cluster_.build(), rules_, kPresent_s), 3600 - 100 - 600);
  EXPECT_DOUBLE_EQ(calibration_gpu_s_left(cluster_.build(), rules_, kPresent_s + 2 * 86400),
                   3600 - 600)
      << "that of two days ago no longer";
}

TEST_F(CalibrationTest, ItWaitsBehindEverybody) {
  cluster_.add(a_run("run", {1, 1})).with(a_job("work").gpus(1).waiting().created(kPresent_s));
  const Queue queue = make_queue(cluster_.build(), options_, menus_);
  ASSERT_EQ(queue.size(), 2U);
  for (TaskIndex task = 0; task < queue.size(); ++task) {
    const bool is_run = queue.task(task).job->is_calibration();
    ASSERT_EQ(queue.task(task).hindrance.has_value(), is_run);
    if (is_run) {
      EXPECT_EQ(queue.task(task).hindrance->reason, reason::kCalibrationWaits);
    }
  }
}

TEST_F(CalibrationTest, ItIsEndedBeforeAnyOtherRunIsStopped) {
  cluster_.add(running(a_run("run", {1, 4}), {"n1"}));
  cluster_.with(a_pod("run-0").of_job("run").gpus(4).on("n1"));
  cluster_.with(a_job("work").of(2).gang().gpus(4).waiting().created(kPresent_s));
  const ClusterSnapshot snapshot = cluster_.build();
  Queue queue = make_queue(snapshot, options_, menus_);
  Plan planned = plan(queue.state(), kPresent_s, policy_);
  const InTheWay found = calibrations_in_the_way(snapshot, queue, planned, kPresent_s);
  ASSERT_THAT(found.to_end, SizeIs(1));
  EXPECT_EQ(found.to_end.front().as<EndCalibration>()->asker.name, "work");
  Effect start;
  start.begun.emplace();
  Effect stop;
  stop.ended.emplace();
  planned.effects = {start, stop, start};
  leave_out_stops(planned);
  EXPECT_THAT(planned.effects, SizeIs(1));
}

TEST_F(CalibrationTest, WhatIsLeftOfAnEndedRunIsWaitedFor) {
  Job run = running(a_run("run", {1, 4}), {"n1"});
  run.active_deadline_s = kEndedBy_s;
  cluster_.add(run).with(a_pod("run-0").of_job("run").gpus(4).on("n1"));
  cluster_.with(a_job("work").of(2).gang().gpus(4).waiting().created(kPresent_s));
  const ClusterSnapshot snapshot = cluster_.build();
  Queue queue = make_queue(snapshot, options_, menus_);
  const Plan planned = plan(queue.state(), kPresent_s, policy_);
  const InTheWay found = calibrations_in_the_way(snapshot, queue, planned, kPresent_s);
  EXPECT_THAT(found.to_end, IsEmpty());
  EXPECT_TRUE(found.any);
}

TEST_F(CalibrationTest, NobodyIsInTheWayOfNobody) {
  cluster_.add(running(a_run("run", {1, 4}), {"n1"}));
  const ClusterSnapshot snapshot = cluster_.build();
  Queue queue = make_queue(snapshot, options_, menus_);
  const Plan planned = plan(queue.state(), kPresent_s, policy_);
  EXPECT_FALSE(calibrations_in_the_way(snapshot, queue, planned, kPresent_s).any);
}

TEST_F(CalibrationTest, WhatWaitsTooLongIsRemoved) {
  cluster_.add(a_run("run", {1, 1}));
  EXPECT_THAT(remove_calibrations(cluster_.build(), kPresent_s), IsEmpty());
  EXPECT_THAT(remove_calibrations(cluster_.build(), kPresent_s + 600), SizeIs(1));
}

}  // namespace
}  // namespace slackline::core

// Series become what tasks used: every case of docs/TELEMETRY.md that needs no server.
#include "telemetry/usage_join.h"

#include <gmock/gmock.h>

namespace slackline::telemetry {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

constexpr double kEnd_s = 1.8e9;
const LabelNames kNames;

wire::Series series(Labels labels, const std::vector<double>& values) {
  wire::Series out{std::move(labels), {}};
  for (std::size_t i = 0; i < values.size(); ++i)
    out.points.push_back({kEnd_s - 60.0 * static_cast<double>(values.size() - 1 - i), values[i]});
  return out;
}

Labels gpu(const std::string& pod, const std::string& uuid) {
  return {{"namespace", "ml"}, {"pod", pod}, {"container", "c"}, {"UUID", uuid}};
}

Labels container(const std::string& pod, const std::string& name) {
  return {{"namespace", "ml"}, {"pod", pod}, {"container", name}};
}

class UsageJoinTest : public testing::Test {
 protected:
  // The last `minutes` of the task, whose pods have so many GPUs each.
  void ask(const std::vector<std::string>& pods, std::int64_t gpus, int minutes = 1) {
    MeasuredTask task{.task = {"ml", pods.front()},
                      .run = Uid("u"),
                      .window = {kEnd_s - 60 * minutes, kEnd_s},
                      .pods = {}};
    for (const std::string& pod : pods)
      task.pods.push_back({.name = pod, .gpus = gpus, .shares_gpus = false});
    tasks_.push_back(std::move(task));
    minutes_ = minutes;
  }
  UsageSample sample(const std::map<Quantity, std::vector<wire::Series>>& answers,
                     std::size_t task = 0) {
    UsageJoin join(tasks_, make_steps({kEnd_s - 60 * minutes_, kEnd_s}, 60), kNames);
    for (const auto& [quantity, all] : answers)
      join.add(quantity, all);
    return join.samples().at(task);
  }

  std::vector<MeasuredTask> tasks_;
  int minutes_ = 1;
};

TEST_F(UsageJoinTest, StepsAreSampledOneByOne) {
  ask({"a"}, 1, 3);
  tasks_[0].window.from_s = kEnd_s - 90;  // half of the second step
  UsageJoin join(tasks_, make_steps({kEnd_s - 180, kEnd_s}, 60), kNames);
  join.add(Quantity::kGpuMean, {series(gpu("a", "G1"), {0.1, 0.2, 0.6})});
  const auto all = join.samples_of_steps();
  ASSERT_EQ(all.size(), 2u) << "the task has no part in the first";
  EXPECT_EQ(all[0].from_s, kEnd_s - 90);
  EXPECT_EQ(all[0].to_s, kEnd_s - 60);
  EXPECT_DOUBLE_EQ(all[0].gpu_share->mean, 0.2);
  EXPECT_DOUBLE_EQ(all[0].gpu_share->seconds, 30);
  EXPECT_DOUBLE_EQ(all[1].gpu_share->mean, 0.6);
  EXPECT_EQ(all[1].to_s, kEnd_s);
}

TEST_F(UsageJoinTest, APodCountsForTheTimeThatItRan) {
  ask({"a", "b"}, 1, 4);  // one after the other
  tasks_[0].pods[0].window = {kEnd_s - 240, kEnd_s - 60};
  tasks_[0].pods[1].window = {kEnd_s - 60, kEnd_s};
  const UsageSample got =
      sample({{Quantity::kGpuMean, {series(gpu("a", "G1"), {0.2, 0.2, 0.2, 0.9})}},
              {Quantity::kMemoryMean, {series(container("b", "c"), {5, 5, 5, 8})}}});
  ASSERT_TRUE(got.gpu_share && got.memory_bytes);
  EXPECT_DOUBLE_EQ(got.gpu_share->mean, 0.2) << "what came after its end is not its own";
  EXPECT_DOUBLE_EQ(got.gpu_share->seconds, 180) << "the last minute was not measured";
  EXPECT_DOUBLE_EQ(got.memory_bytes->mean, 8);
  EXPECT_DOUBLE_EQ(got.memory_bytes->seconds, 60);
  EXPECT_DOUBLE_EQ(got.gap_s, 180);
}

TEST_F(UsageJoinTest, MeanAndMaximumAreOfAllGpusOfTheTask) {
  ask({"a", "b"}, 1);
  const UsageSample got = sample(
      {{Quantity::kGpuMean, {series(gpu("a", "G1"), {0.4}), series(gpu("b", "G2"), {0.8})}},
       {Quantity::kGpuMax, {series(gpu("a", "G1"), {0.95}), series(gpu("b", "G2"), {0.9})}}});
  ASSERT_TRUE(got.gpu_share);
  EXPECT_NEAR(got.gpu_share->mean, 0.6, 1e-12);
  EXPECT_EQ(got.gpu_share->max, 0.95);
  EXPECT_EQ(got.gpu_share->seconds, 60);
  EXPECT_EQ(got.gpus, UsageQuality::kMeasured);
  EXPECT_EQ(got.gap_s, 0);
}

TEST_F(UsageJoinTest, ARenamedLabelWinsOverThatOfTheExporter) {
  ask({"a"}, 1);
  const UsageSample got = sample({{Quantity::kGpuMean,
                                   {series({{"namespace", "gpu-operator"},
                                            {"pod", "exporter"},
                                            {"exported_namespace", "ml"},
                                            {"exported_pod", "a"},
                                            {"UUID", "G1"}},
                                           {0.5}),
                                    series({{"namespace", "gpu-operator"},
                                            {"pod", "exporter"},
                                            {"pod_namespace", "ml"},
                                            {"pod_name", "a"},
                                            {"UUID", "G1"}},
                                           {0.3})}}});
  ASSERT_TRUE(got.gpu_share);
  EXPECT_EQ(got.gpu_share->mean, 0.5);
}

TEST_F(UsageJoinTest, TheExportersOwnPodIsNobody) {
  ask({"a"}, 1);
  const UsageSample got =
      sample({{Quantity::kGpuMean,
               {series({{"namespace", "gpu-operator"}, {"pod", "exporter"}, {"UUID", "G1"}}, {0.7}),
                series(gpu("a", "G2"), {0.5}), series({{"UUID", "G3"}}, {0.9})}}});
  EXPECT_EQ(got.gpu_share->mean, 0.5);
  EXPECT_EQ(got.gpus, UsageQuality::kMeasured);
}

TEST_F(UsageJoinTest, WhatIsScrapedTwiceCountsOnce) {
  ask({"a"}, 1);
  const UsageSample got = sample(
      {{Quantity::kGpuMean, {series(gpu("a", "G1"), {0.5}), series(gpu("a", "G1"), {0.52})}},
       {Quantity::kCpu, {series(container("a", "c"), {2}), series(container("a", "c"), {2.1})}}});
  EXPECT_EQ(got.gpu_share->mean, 0.52);
  EXPECT_EQ(got.cpu_cores->mean, 2.1);
  EXPECT_EQ(got.gpus, UsageQuality::kMeasured);
}

TEST_F(UsageJoinTest, ContainersAddUpAndTheCgroupOfThePodDoesNot) {
  ask({"a"}, 1);
  const UsageSample got =
      sample({{Quantity::kCpu,
               {series(container("a", "main"), {2}), series(container("a", "sidecar"), {0.5}),
                series(container("a", ""), {2.5}), series(container("a", "POD"), {0.1})}}});
  EXPECT_EQ(got.cpu_cores->mean, 2.5);
  EXPECT_EQ(got.gpus, UsageQuality::kUnknown) << "no GPU was measured";
  EXPECT_FALSE(got.gpu_share);
}

TEST_F(UsageJoinTest, MigInstancesOfOneGpuAreDevices) {
  ask({"a"}, 2);
  Labels first = gpu("a", "G1");
  Labels second = gpu("a", "G1");
  first.emplace_back("GPU_I_ID", "7");
  second.emplace_back("GPU_I_ID", "9");
  const UsageSample got =
      sample({{Quantity::kGpuMean, {series(first, {0.2}), series(second, {0.6})}}});
  EXPECT_NEAR(got.gpu_share->mean, 0.4, 1e-12);
  EXPECT_EQ(got.gpus, UsageQuality::kMeasured);
}

TEST_F(UsageJoinTest, WithoutUuidTheNodeAndTheIndexNameTheGpu) {
  ask({"a"}, 2);
  const auto of = [](const std::string& node, const std::string& index) {
    return Labels{{"namespace", "ml"}, {"pod", "a"}, {node, "n1"}, {"gpu", index}};
  };
  const UsageSample got =
      sample({{Quantity::kGpuMean,
               {series(of("Hostname", "0"), {1}), series(of("hostname", "1"), {0}),
                series(of("hostname", "0"), {1})}}});
  EXPECT_EQ(got.gpu_share->mean, 0.5) << "both spellings of the node's label are one GPU";
}

TEST_F(UsageJoinTest, APodWithFewerGpusThanItAskedForSharesThem) {
  ask({"a"}, 2);
  EXPECT_EQ(sample({{Quantity::kGpuMean, {series(gpu("a", "G1"), {0.5})}}}).gpus,
            UsageQuality::kShared);
}

TEST_F(UsageJoinTest, PodsOnOneGpuShareIt) {
  ask({"a"}, 1);
  ask({"b"}, 1);
  const std::map<Quantity, std::vector<wire::Series>> answers = {
      {Quantity::kGpuMean, {series(gpu("a", "G1"), {0.5}), series(gpu("b", "G1"), {0.5})}}};
  EXPECT_EQ(sample(answers, 0).gpus, UsageQuality::kShared);
  EXPECT_EQ(sample(answers, 1).gpus, UsageQuality::kShared);
}

TEST_F(UsageJoinTest, AGpuThatGoesFromOnePodToTheNextIsNotShared) {
  ask({"a"}, 1, 4);
  ask({"b"}, 1, 4);
  wire::Series first = series(gpu("a", "G1"), {1, 1, 1, 1});
  wire::Series second = first;
  second.labels = gpu("b", "G1");
  first.points.resize(2);
  second.points.erase(second.points.begin());
  EXPECT_EQ(sample({{Quantity::kGpuMean, {first, second}}}).gpus, UsageQuality::kMeasured);
}

TEST_F(UsageJoinTest, AnExporterThatCountsProcessesSaysThatTheGpuIsShared) {
  ask({"a"}, 1);
  Labels labels = gpu("a", "G1");
  labels.emplace_back("vgpu", "2");
  EXPECT_EQ(sample({{Quantity::kGpuMean, {series(labels, {0.5})}}}).gpus, UsageQuality::kShared);
}

TEST_F(UsageJoinTest, ANodeThatSharesItsGpusNeedsNoOtherSign) {
  ask({"a"}, 1);
  tasks_[0].pods[0].shares_gpus = true;
  EXPECT_EQ(sample({{Quantity::kGpuMean, {series(gpu("a", "G1"), {0.5})}}}).gpus,
            UsageQuality::kShared);
}

TEST_F(UsageJoinTest, AStepWithoutAValueIsAGap) {
  ask({"a"}, 1, 4);
  wire::Series with_gap = series(gpu("a", "G1"), {0.2, 0.4, 0.9, 0.6});
  with_gap.points.erase(with_gap.points.begin() + 2);
  const UsageSample got = sample({{Quantity::kGpuMean, {with_gap}}});
  EXPECT_NEAR(got.gpu_share->mean, 0.4, 1e-12);
  EXPECT_EQ(got.gpu_share->max, 0.6);
  EXPECT_EQ(got.gpu_share->seconds, 180);
  EXPECT_EQ(got.gap_s, 60);
}

TEST_F(UsageJoinTest, AStepWithAnImpossibleValueIsAGap) {
  ask({"a"}, 1, 4);
  UsageJoin join(tasks_, make_steps({kEnd_s - 240, kEnd_s}, 60), kNames);
  const auto add = [&](Quantity quantity, const Labels& labels, const std::vector<double>& values) {
    return join.add(quantity, {series(labels, values)});
  };
  EXPECT_EQ(add(Quantity::kGpuMean, gpu("a", "G1"), {0.5, 42949672.95, 0.7, 1.02}), 1u);
  EXPECT_EQ(add(Quantity::kGpuMax, gpu("a", "G1"), {0.6, 0.6, 14.06, 1.02}), 1u);
  EXPECT_EQ(add(Quantity::kGpuMemoryMean, gpu("a", "G1"), {-0.01, 0.4, 0.4, 1.7}), 2u);
  EXPECT_EQ(add(Quantity::kMemoryMean, container("a", "c"), {5, 140737488355328, 5, 7}), 1u);
  EXPECT_EQ(add(Quantity::kMemoryMean, container("a", "other"), {5, 5, 5, 5}), 0u);
  const UsageSample got = join.samples().at(0);
  EXPECT_EQ(got.gpu_share->seconds, 120) << "where the maximum is impossible, so is the mean";
  EXPECT_EQ(got.gpu_share->mean, 0.75);
  EXPECT_EQ(got.gpu_share->max, 1) << "a little above is rounding";
  EXPECT_EQ(got.gpu_memory_share->seconds, 120);
  EXPECT_EQ(got.gpu_memory_share->max, 0.4);
  EXPECT_EQ(got.memory_bytes->seconds, 180) << "a pod is not what is left of its containers";
  EXPECT_EQ(got.gap_s, 120);
}

TEST_F(UsageJoinTest, AnswersOnAnotherTimeGridFallIntoTheirSteps) {
  ask({"a"}, 1, 3);
  wire::Series rounded = series(gpu("a", "G1"), {0.1, 0.2, 0.6});
  for (wire::SeriesPoint& point : rounded.points)
    point.time_s -= 23;  // as servers do that round times down
  const UsageSample got = sample({{Quantity::kGpuMean, {rounded}}});
  ASSERT_TRUE(got.gpu_share);
  EXPECT_NEAR(got.gpu_share->mean, 0.3, 1e-12);
  EXPECT_EQ(got.gap_s, 0);
}

TEST_F(UsageJoinTest, APodThatWasNotMeasuredIsAGapOfItsShare) {
  ask({"a", "b", "c", "d"}, 1);
  const UsageSample got = sample({{Quantity::kGpuMean, {series(gpu("a", "G1"), {0.5})}}});
  EXPECT_EQ(got.gpu_share->seconds, 15);
  EXPECT_EQ(got.gap_s, 45);
  EXPECT_EQ(got.gpus, UsageQuality::kMeasured) << "its exporter was away; nobody shares";
}

TEST_F(UsageJoinTest, NothingMeasuredIsOneGap) {
  ask({"a"}, 1, 2);
  const UsageSample got = sample({});
  EXPECT_EQ(got.gap_s, 120);
  EXPECT_EQ(got.gpus, UsageQuality::kUnknown);
  EXPECT_FALSE(got.gpu_share || got.gpu_memory_share || got.cpu_cores || got.memory_bytes);
}

TEST_F(UsageJoinTest, OnlyTheTasksOwnPartOfTheWindowCounts) {
  ask({"a"}, 1, 2);
  tasks_[0].window.from_s = kEnd_s - 30;
  const UsageSample got = sample({{Quantity::kGpuMean, {series(gpu("a", "G1"), {0.1, 0.7})}}});
  EXPECT_EQ(got.from_s, kEnd_s - 30);
  EXPECT_EQ(got.gpu_share->mean, 0.7);
  EXPECT_EQ(got.gpu_share->seconds, 30);
  EXPECT_EQ(got.gap_s, 0);
}

TEST(StepsTest, ALongWindowHasLongSteps) {
  const Steps month = make_steps({0, 30 * 86400.0}, 60);
  EXPECT_LE(month.count, kMostSteps);
  EXPECT_EQ(month.end_s(month.count - 1), 30 * 86400.0);
  EXPECT_LE(month.step(0).from_s, 0);
  EXPECT_EQ(make_steps({100, 100}, 60).count, 0u);
  EXPECT_EQ(make_steps({100, 130}, 60).count, 1u);
  EXPECT_EQ(make_steps({0, 120}, 60).at(90), 1u);
  EXPECT_EQ(make_steps({0, 120}, 60).at(60.005), 0u) << "times have milliseconds on their way";
  EXPECT_FALSE(make_steps({0, 120}, 60).at(0));
  EXPECT_FALSE(make_steps({0, 120}, 60).at(121));
}

}  // namespace
}  // namespace slackline::telemetry

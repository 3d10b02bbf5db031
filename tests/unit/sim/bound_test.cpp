#include "sim/bound.h"

#include <limits>

#include <gtest/gtest.h>

#include "sim/platform.h"

namespace slackline::sim {
namespace {

const std::vector<BoundChoice> kScaling = {{100, 1}, {60, 2}, {40, 4}};  // 100, 120, 160 GPU-s

TEST(LeastGpuSeconds, FollowsTheLowerConvexEnvelope) {
  EXPECT_DOUBLE_EQ(least_gpu_seconds(kScaling, 1000), 100);
  EXPECT_DOUBLE_EQ(least_gpu_seconds(kScaling, 100), 100);
  EXPECT_DOUBLE_EQ(least_gpu_seconds(kScaling, 80), 110);  // half of it with two GPUs
  EXPECT_DOUBLE_EQ(least_gpu_seconds(kScaling, 60), 120);
  EXPECT_DOUBLE_EQ(least_gpu_seconds(kScaling, 50), 140);
  EXPECT_EQ(least_gpu_seconds(kScaling, 39), std::numeric_limits<double>::infinity());
}

TEST(LeastGpuSeconds, IgnoresChoicesAboveTheEnvelope) {
  EXPECT_DOUBLE_EQ(least_gpu_seconds({{100, 1}, {60, 10}, {40, 4}}, 70), 130);
  EXPECT_DOUBLE_EQ(least_gpu_seconds({{100, 1}, {120, 2}, {100, 3}}, 200), 100);
}

TEST(Bounds, TwoOfThreeFitIntoOneWindow) {
  const std::vector<BoundTask> tasks(3, BoundTask{0, 100, {{100, 1}}});
  const Bounds bounds = bounds_of(tasks, 2);
  EXPECT_NEAR(bounds.q, 100.0 * 2 / 3, 1e-3);  // deadlines have a tolerance of 1 ms
  EXPECT_EQ(bounds.feasible_alone, 100);
  EXPECT_EQ(bounds.makespan_s, 150);
}

TEST(Bounds, SmallTasksGoFirstAndPartsCount) {
  // 200 GPU-seconds: all of the 80, then 120 of the 150.
  const Bounds bounds = bounds_of({{0, 100, {{75, 2}}}, {0, 100, {{80, 1}}}}, 2);
  EXPECT_NEAR(bounds.q, 50.0 * (1 + 120.0 / 150), 1e-2);
}

TEST(Bounds, ANestedWindowIsTightWhereTheOuterOneIsNot) {
  const std::vector<BoundTask> tasks = {
      {100, 200, {{100, 1}}}, {100, 200, {{100, 1}}}, {0, 1000, {{100, 1}}}};
  EXPECT_NEAR(bounds_of(tasks, 1).q, 100.0 * 2 / 3, 1e-3);
}

TEST(Bounds, TasksThatCannotMakeItAloneNeverCount) {
  const Bounds bounds = bounds_of({{0, 0, {{100, 1}}}, {0, 100, {{100, 1}}}}, 4);
  EXPECT_EQ(bounds.feasible_alone, 50);
  EXPECT_EQ(bounds.q, 50);
}

TEST(Bounds, TheMakespanWaitsForTheLastArrival) {
  const Bounds bounds = bounds_of({{0, 10, kScaling}, {500, 900, kScaling}}, 1);
  EXPECT_EQ(bounds.makespan_s, 540);
  EXPECT_DOUBLE_EQ(bounds.load, 200.0 / 500);
}

// A policy that is surprised by a short run would finish before a bound by predicted times.
TEST(Bounds, CountTheTimesThatRunsTrulyTake) {
  Platform platform;
  platform.pools = {{GpuType("K80"), "", 1, 4, 1.0}};
  const TraceTask task{0, 0, "lstm", 8, 1, QosClass::kNormal, 1000, 4};
  const core::TaskTable tasks({prepare_task(task, {{0, {1, 4}, 1.0, 600, 30}}, platform)});
  Noise noise;
  NoiseRow row;
  row.factor = 0.5;
  noise.add(row);
  const auto bound = bound_tasks(tasks, platform.pools, noise);
  ASSERT_EQ(bound.size(), 1U);
  EXPECT_DOUBLE_EQ(bound[0].choices.front().lat_s, 330);
  EXPECT_DOUBLE_EQ(bounds_of(bound, 4).makespan_s, 330);
}

TEST(Bounds, NoTasksAreAllZero) {
  EXPECT_EQ(bounds_of({}, 4).q, 0);
}

}  // namespace
}  // namespace slackline::sim

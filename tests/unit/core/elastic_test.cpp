#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "slackline/base/random.h"
#include "slackline/core/elastic/allocation.h"

namespace slackline::core {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

template <class Loss>
LossHistory seen(int iterations, const Loss& loss) {
  LossHistory history;
  for (int k = 0; k < iterations; ++k)
    history.observe(k, loss(k));
  return history;
}

double power(double k) {
  return 2 / (k + 1) + 0.3;
}

TEST(LossCurve, APowerIsContinued) {
  const auto curve = seen(40, power).fit();
  ASSERT_TRUE(curve);
  EXPECT_NEAR(curve->loss(80), power(80), 0.005);
  EXPECT_NEAR(curve->drop(39, 80), power(39) - power(80), 0.005);
  EXPECT_EQ(curve->drop(80, 39), 0);
}

TEST(LossCurve, AnExponentialIsContinuedByItsOwnShape) {
  const auto decay = [](double k) { return 2 * std::pow(0.95, k) + 0.3; };
  const auto curve = seen(60, decay).fit(CurveShape::kExponential);
  ASSERT_TRUE(curve);
  EXPECT_NEAR(curve->loss(80), decay(80), 0.04);
}

TEST(LossCurve, IsOfAnyUnitOfIterations) {
  LossHistory history;
  for (int k = 0; k < 40; ++k)
    history.observe(1000 * k, power(k));
  EXPECT_NEAR(history.fit()->loss(80'000), power(80), 0.005);
}

TEST(LossCurve, FollowsRecentPointsMoreThanOldOnes) {
  const auto steps = [](double k) { return k < 30 ? 1 - 0.01 * k : 0.4; };
  const auto curve = seen(60, steps).fit();
  const auto unweighted_mean = 0.4 / 2 + 0.855 / 2;
  EXPECT_LT(curve->loss(59), 0.9 * unweighted_mean);
}

TEST(LossCurve, ALossThatRisesDropsNothing) {
  const auto curve = seen(20, [](double k) { return 1 + 0.1 * k; }).fit();
  ASSERT_TRUE(curve);
  EXPECT_EQ(curve->drop(19, 100), 0);
}

TEST(LossHistory, FewerThanFivePointsAreNotFitted) {
  EXPECT_FALSE(seen(4, power).fit());
  EXPECT_TRUE(seen(5, power).fit());
}

TEST(LossHistory, WhatIsNotFiniteOrSeenTwiceIsIgnored) {
  LossHistory history = seen(4, power);
  history.observe(4, kNotANumber);
  history.observe(kNotANumber, 1);
  history.observe(3, 1000);
  EXPECT_FALSE(history.fit());
  EXPECT_EQ(history.iteration(), 3);
  EXPECT_DOUBLE_EQ(history.range(), power(0) - power(3));
}

TEST(LossHistory, ATaskThatBeganAgainIsUnknownAgain) {
  LossHistory history = seen(20, power);
  history.observe(2, 0.5);
  EXPECT_FALSE(history.fit());
  EXPECT_EQ(history.range(), 0);
}

TEST(LossHistory, AHundredThousandReportsTellWhatSixtyTell) {
  const auto slow = [](double k) { return power(k / 2000); };
  const auto curve = seen(100'000, slow).fit();
  EXPECT_NEAR(curve->loss(200'000), slow(200'000), 0.01);
}

ElasticTask task_with(double fall, double exponent, int units = 1) {
  ElasticTask task;
  task.units = units;
  task.most = 8;
  task.curve = LossCurve{CurveShape::kPower, fall, 0.1, exponent, 1, 1};
  task.loss_range = 1;
  task.iteration = 5;
  task.iterations_per_s = [](int size) { return 0.02 * size; };
  return task;
}

TEST(LossGain, IsWeightedAndEndsWithTheTask) {
  ElasticTask task = task_with(1, 1);
  const double gain = loss_gain(task, 2, 120);
  EXPECT_NEAR(gain, 1.0 / 6 - 1 / 10.8, 1e-9);
  task.weight = 3;
  EXPECT_NEAR(loss_gain(task, 2, 120), 3 * gain, 1e-9);
  task.iterations_left = 0;
  EXPECT_EQ(loss_gain(task, 2, 120), 0);
  task.curve.reset();
  EXPECT_EQ(loss_gain(task, 2, 120), 0);
}

TEST(FairShares, AreEqualWithinTheBounds) {
  std::vector<ElasticTask> tasks(3, task_with(1, 1));
  EXPECT_EQ(fair_shares(tasks, 7), (std::vector<int>{3, 2, 2}));
  tasks[0].most = 1;
  tasks[2].least = 4;
  EXPECT_EQ(fair_shares(tasks, 7), (std::vector<int>{1, 2, 4}));
  EXPECT_EQ(fair_shares(tasks, 2), (std::vector<int>{1, 1, 0})) << "no room for four";
  EXPECT_EQ(fair_shares(tasks, 100), (std::vector<int>{1, 8, 8}));
}

// The largest sum of gains of all ways to hand out at most `units` above the floors.
double best_of_all(const std::vector<ElasticTask>& tasks, const std::vector<int>& floors, int units,
                   std::size_t from = 0) {
  if (from == tasks.size()) return 0;
  double best = 0;
  for (int size = floors[from]; size <= tasks[from].most && size - floors[from] <= units; ++size)
    best = std::max(best, loss_gain(tasks[from], size, 120) +
                              best_of_all(tasks, floors, units - (size - floors[from]), from + 1));
  return best;
}

TEST(LossGreedy, IsAsGoodAsEveryOtherWayForConcaveGains) {
  Random random(7);
  for (int world = 0; world < 200; ++world) {
    std::vector<ElasticTask> tasks;
    const auto count = 2 + random.index(3);
    for (std::uint64_t i = 0; i < count; ++i) {
      tasks.push_back(task_with(random.uniform(0.1, 3), random.uniform(0.3, 2.5)));
      tasks.back().iteration = random.uniform(0, 100);
      tasks.back().weight = random.uniform(0.5, 2);
    }
    const int units = static_cast<int>(tasks.size() + random.index(10));
    const ElasticRound round{units};
    const std::vector<int> sizes = allocate_greedily(tasks, round);
    std::vector<int> floors = fair_shares(tasks, units);
    int spare = units;
    double gain = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      spare -= floors[i] = elastic_floor(tasks[i], floors[i]);
      gain += loss_gain(tasks[i], sizes[i], round.period_s);
    }
    EXPECT_NEAR(gain, best_of_all(tasks, floors, spare), 1e-12) << "world " << world;
    EXPECT_LE(std::accumulate(sizes.begin(), sizes.end(), 0), units);
  }
}

TEST(LossGreedy, LeavesTheFloorToAllAndTheFairShareToWhatIsOnProbation) {
  std::vector<ElasticTask> tasks(4, task_with(0, 1));
  tasks[0] = task_with(1, 1);
  tasks[1].curve.reset();
  for (ElasticTask& task : tasks)
    task.most = 100;
  const std::vector<int> sizes = allocate_greedily(tasks, {32});
  EXPECT_EQ(sizes, (std::vector<int>{20, 8, 2, 2}));
  tasks[3].least = 5;
  EXPECT_EQ(allocate_greedily(tasks, {32})[3], 5);
}

ElasticRound with_restart(int units, double restart_s = 30) {
  return {units, 120, restart_s};
}

TEST(LossTrades, MoveUnitsFromWhoLosesLeastToWhoGainsMost) {
  const std::vector<ElasticTask> tasks = {task_with(3, 1, 4), task_with(0.001, 1, 4)};
  EXPECT_EQ(allocate_by_trades(tasks, with_restart(8)), (std::vector<int>{4, 4}))
      << "half of the other's are not enough to double";
  EXPECT_EQ(allocate_by_trades(tasks, with_restart(10)), (std::vector<int>{8, 2}));
}

TEST(LossTrades, AreNotMadeForLessThanTheRestartsCost) {
  const std::vector<ElasticTask> alike = {task_with(1, 1, 4), task_with(1, 1, 4)};
  EXPECT_EQ(allocate_by_trades(alike, with_restart(10)), (std::vector<int>{4, 4}));
  // Alone, with idle units: not for the last iteration.
  std::vector<ElasticTask> alone = {task_with(1, 1, 4)};
  EXPECT_EQ(allocate_by_trades(alone, with_restart(8)), (std::vector<int>{8}));
  alone[0].iterations_left = 1;
  EXPECT_EQ(allocate_by_trades(alone, with_restart(8)), (std::vector<int>{4}));
}

TEST(LossTrades, LeaveAloneWhatWasResizedLatelyAndWhatIsOnProbation) {
  std::vector<ElasticTask> tasks = {task_with(3, 1, 4), task_with(0.001, 1, 4)};
  tasks[0].since_resize_s = 149;
  EXPECT_EQ(allocate_by_trades(tasks, with_restart(10)), (std::vector<int>{4, 4}));
  tasks[0].since_resize_s = 150;
  EXPECT_EQ(allocate_by_trades(tasks, with_restart(10)), (std::vector<int>{8, 2}));
  tasks[1].curve.reset();
  EXPECT_EQ(allocate_by_trades(tasks, with_restart(10)), (std::vector<int>{4, 4}));
}

TEST(LossTrades, ANewcomerGetsItsFairShareFromWhoLosesLeast) {
  std::vector<ElasticTask> tasks = {task_with(3, 1, 4), task_with(0.001, 1, 8), task_with(0, 1, 0)};
  tasks[0].since_resize_s = 0;
  tasks[2].curve.reset();
  EXPECT_EQ(allocate_by_trades(tasks, with_restart(12)), (std::vector<int>{4, 4, 4}));
  EXPECT_EQ(allocate_by_trades(tasks, with_restart(18)), (std::vector<int>{4, 8, 6}))
      << "idle units come first";
}

TEST(LossTrades, NeverHandOutMoreThanThereIs) {
  Random random(3);
  std::vector<ElasticTask> tasks(40, task_with(1, 1, 0));
  for (ElasticTask& task : tasks)
    task.curve->a = random.uniform(0, 2);
  for (int round = 0; round < 20; ++round) {
    const std::vector<int> sizes = allocate_by_trades(tasks, with_restart(100));
    EXPECT_LE(std::accumulate(sizes.begin(), sizes.end(), 0), 100);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      EXPECT_GE(sizes[i], 1);
      EXPECT_LE(sizes[i], tasks[i].most);
      tasks[i].units = sizes[i];
      tasks[i].iteration += random.uniform(0, 20);
    }
  }
}

TEST(LossTrades, AreGreedyWhereRestartsCostNothing) {
  std::vector<ElasticTask> tasks;
  for (const double fall : {0.1, 0.5, 2.0})
    tasks.push_back(task_with(fall, 1, 4));
  EXPECT_EQ(allocate_by_trades(tasks, {12}), allocate_greedily(tasks, {12}));
}

}  // namespace
}  // namespace slackline::core

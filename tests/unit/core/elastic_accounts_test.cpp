// Accounts of unit-seconds that dividing units anew conserves, and tasks that hardly get better.
#include <cmath>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "slackline/base/random.h"
#include "slackline/core/elastic/accounts.h"
#include "slackline/core/elastic/diminishing_returns.h"

namespace slackline::core {
namespace {

constexpr double kPeriod_s = 120;

ElasticTask with_curve(double fall) {
  ElasticTask task;
  task.most = 8;
  task.curve = LossCurve{CurveShape::kPower, fall, 0.1, 1, 1, 1};
  task.loss_range = 1;
  task.iteration = 5;
  task.iterations_per_s = [](int size) { return 0.02 * size; };
  return task;
}

double sum_of(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0);
}

TEST(ElasticAccounts, ATaskIsOwedWhatOthersGotOfItsFairShare) {
  const std::vector<ElasticTask> tasks(3, with_curve(1));
  EXPECT_EQ(booked_in_round(tasks, std::vector<int>{2, 2, 2}, {6, kPeriod_s}),
            (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(booked_in_round(tasks, std::vector<int>{1, 2, 3}, {6, kPeriod_s}),
            (std::vector<double>{kPeriod_s, 0, -kPeriod_s}));
  EXPECT_EQ(booked_in_round(tasks, std::vector<int>{0, 0, 3}, {6, kPeriod_s}),
            (std::vector<double>{kPeriod_s, kPeriod_s, -2 * kPeriod_s}))
      << "of three units that are in use";
  EXPECT_TRUE(booked_in_round({}, {}, {6, kPeriod_s}).empty());
}

TEST(ElasticAccounts, AreConservedWhateverIsDivided) {
  Random random(3);
  std::vector<ElasticTask> tasks(20, with_curve(1));
  double moved = 0;
  for (int round = 0; round < 50; ++round) {
    for (ElasticTask& task : tasks)
      task.curve->a = random.uniform(0, 3);
    const ElasticRound of{60, kPeriod_s};
    const std::vector<int> units = allocate_greedily(bound_by_accounts(tasks, of), of);
    const std::vector<double> booked = booked_in_round(tasks, units, of);
    EXPECT_NEAR(sum_of(booked), 0, 1e-6);
    double sum = 0;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      sum += tasks[i].owed_unit_s += booked[i];
      moved += std::abs(booked[i]);
    }
    EXPECT_NEAR(sum, 0, 1e-6);
  }
  EXPECT_GT(moved, 0);
}

TEST(ElasticAccounts, WhoIsOwedMuchKeepsItsShareAndWhoOwesMuchGetsNoMore) {
  std::vector<ElasticTask> tasks = {with_curve(3), with_curve(0)};
  const ElasticRound round{8, kPeriod_s};
  EXPECT_EQ(allocate_greedily(bound_by_accounts(tasks, round), round), (std::vector<int>{7, 1}));
  const double credit = 5 * kPeriod_s * 4;
  tasks[1].owed_unit_s = credit;
  EXPECT_EQ(allocate_greedily(bound_by_accounts(tasks, round), round), (std::vector<int>{7, 1}));
  tasks[1].owed_unit_s = credit + 1;
  EXPECT_EQ(allocate_greedily(bound_by_accounts(tasks, round), round), (std::vector<int>{4, 4}));
  tasks[0].owed_unit_s = -credit - 1;
  tasks[1].owed_unit_s = 0;
  EXPECT_EQ(bound_by_accounts(tasks, round)[0].most, 4);
}

TEST(ElasticAccounts, ConvergeToTheFairShareOverTime) {
  std::vector<ElasticTask> tasks = {with_curve(3), with_curve(0)};
  const ElasticRound round{8, kPeriod_s};
  for (int i = 0; i < 200; ++i) {
    const std::vector<int> units = allocate_greedily(bound_by_accounts(tasks, round), round);
    const std::vector<double> booked = booked_in_round(tasks, units, round);
    for (std::size_t task = 0; task < tasks.size(); ++task)
      tasks[task].owed_unit_s += booked[task];
    EXPECT_LE(tasks[1].owed_unit_s, (5 * 4 + 3) * kPeriod_s) << "the credit, and one round over it";
  }
}

TEST(DiminishingReturns, AreThreeRoundsRunningOfLessThanOnePercent) {
  DiminishingReturns returns;
  returns.observe(0.009);
  returns.observe(0);
  EXPECT_FALSE(returns.reached());
  returns.observe(0.01);
  returns.observe(0.009);
  returns.observe(0.009);
  EXPECT_FALSE(returns.reached());
  returns.observe(0.009);
  EXPECT_TRUE(returns.reached());
  returns.observe(0.5);
  EXPECT_FALSE(returns.reached()) << "a plateau before a fall";
}

}  // namespace
}  // namespace slackline::core

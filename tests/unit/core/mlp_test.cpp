#include "slackline/core/learning/mlp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

namespace slackline::core {
namespace {

std::vector<double> random_numbers(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> numbers(count);
  for (double& x : numbers)
    x = random.normal();
  return numbers;
}

void check_gradients(int outputs, const std::vector<double>& targets) {
  constexpr double kStep = 1e-6;
  Random random(1);
  Mlp mlp({4, 6, 5, outputs}, random);
  auto inputs = random_numbers(4 * 7, 2);
  const auto loss = [&] {
    Mlp::Gradient at;
    mlp.gradient(inputs, targets, at);
    return at.loss;
  };
  Mlp::Gradient gradient;
  mlp.gradient(inputs, targets, gradient);
  ASSERT_EQ(gradient.weights.size(), mlp.weights().size());
  ASSERT_EQ(gradient.inputs.size(), inputs.size());
  const auto check = [&](std::vector<double>& moved, const std::vector<double>& slopes) {
    for (std::size_t i = 0; i < moved.size(); ++i) {
      const double there = moved[i];
      moved[i] = there + kStep;
      const double above = loss();
      moved[i] = there - kStep;
      const double below = loss();
      moved[i] = there;
      EXPECT_NEAR(slopes[i], (above - below) / (2 * kStep), 1e-6) << i;
    }
  };
  check(mlp.weights(), gradient.weights);
  check(inputs, gradient.inputs);
}

TEST(Mlp, GradientsAreThoseOfFiniteDifferences) {
  check_gradients(1, random_numbers(7, 3));
  check_gradients(3, random_numbers(3 * 7, 3));
  auto some = random_numbers(3 * 7, 3);
  for (std::size_t i = 0; i < some.size(); ++i)
    if (i % 3 != i / 3 % 3) some[i] = std::numeric_limits<double>::quiet_NaN();
  check_gradients(3, some);
}

TEST(Mlp, AnOutputWithoutATargetLearnsNothing) {
  Random random(1);
  Mlp mlp({2, 2}, random);
  Mlp::Gradient gradient;
  mlp.gradient(std::vector<double>{1, 2},
               std::vector<double>{5, std::numeric_limits<double>::quiet_NaN()}, gradient);
  const std::vector<double> before = mlp.predict_all(std::vector<double>{1, 2});
  Adam(mlp.weights().size(), 0.1, 0).step(mlp.weights(), gradient.weights);
  const std::vector<double> after = mlp.predict_all(std::vector<double>{1, 2});
  EXPECT_GT(after[0], before[0]);
  EXPECT_EQ(after[1], before[1]);
  EXPECT_EQ(after[0], mlp.predict(std::vector<double>{1, 2}));
}

TEST(Mlp, TheLossIsTheMeanSquareOfWhatItPredicts) {
  Random random(4);
  const Mlp mlp({3, 5, 1}, random);
  const auto inputs = random_numbers(6, 5);
  const std::vector<double> targets = {0.5, -1};
  Mlp::Gradient gradient;
  mlp.gradient(inputs, targets, gradient);
  double loss = 0;
  for (std::size_t i = 0; i < 2; ++i)
    loss += std::pow(mlp.predict(std::span(inputs).subspan(3 * i, 3)) - targets[i], 2) / 2;
  EXPECT_NEAR(gradient.loss, loss, 1e-12);
}

TEST(Mlp, TrainedFromTheSameSeedTwiceItHasTheSameBits) {
  const auto train = [] {
    Random random(6);
    Mlp mlp({2, 8, 1}, random);
    Adam adam(mlp.weights().size(), 1e-2, 1e-4);
    Mlp::Gradient gradient;
    const auto inputs = random_numbers(32, 7);
    std::vector<double> targets;
    for (std::size_t i = 0; i < 16; ++i)
      targets.push_back(inputs[2 * i] * inputs[2 * i + 1]);
    double first = 0;
    for (int step = 0; step < 500; ++step) {
      mlp.gradient(inputs, targets, gradient);
      if (step == 0) first = gradient.loss;
      adam.step(mlp.weights(), gradient.weights);
    }
    EXPECT_LT(gradient.loss, 0.1 * first) << "it has learnt";
    return mlp.weights();
  };
  EXPECT_EQ(train(), train());
}

TEST(Adam, DecayDrawsAnUnusedWeightToZero) {
  std::vector<double> weights = {1.0};
  Adam adam(1, 1e-2, 1e-2);
  for (int i = 0; i < 200; ++i)
    adam.step(weights, std::vector<double>{0.0});
  EXPECT_NEAR(weights[0], 0, 0.05);
}

TEST(Shuffle, IsAPermutationOfTheSeed) {
  std::vector<std::size_t> order(50);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto sorted = order;
  Random random(8);
  shuffle(order, random);
  EXPECT_NE(order, sorted);
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, sorted);
}

}  // namespace
}  // namespace slackline::core

// Who gets a task in the cluster of paper 001, what the clairvoyant knows of it, and on which nodes
// what has a history has lived it.
#include "sim/presets/dispatch_run.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "sim/presets/dispatch_learning.h"

namespace slackline::sim {
namespace {

using Choices = std::span<const DispatchChoice>;

constexpr std::uint64_t kDispatchedWorld = 3;

DispatchOutcome run(const DispatchLoad& load, const DispatchPolicy& policy) {
  return run_dispatch(load, draw_hidden(load, kDispatchedWorld), draw_dispatched(load, 1), policy);
}

TEST(DispatchRun, TheChosenOneGetsTheTask) {
  const DispatchLoad load{300, 20};
  DispatchPolicy by_cost;
  by_cost.cost = [](const DispatchChoice& to) { return to.predicted_s; };
  DispatchPolicy by_choice;
  std::size_t asked = 0;
  by_choice.choose = [&asked](Choices choices) {
    EXPECT_EQ(choices.front().task, asked++);
    const auto least = std::min_element(choices.begin(), choices.end(), [](auto& a, auto& b) {
      return a.predicted_s < b.predicted_s;
    });
    return static_cast<std::size_t>(least - choices.begin());
  };
  EXPECT_EQ(run(load, by_choice).mean_response_s, run(load, by_cost).mean_response_s);
  EXPECT_EQ(asked, 300U);
}

// By turns, so that weak nodes are short of memory and all GPUs have neighbours. Nobody comes after
// the last task.
TEST(DispatchRun, TheClairvoyantKnowsTheTrueEndOnEachNode) {
  constexpr std::size_t kLast = 199;
  std::size_t nodes_short = 0;
  for (std::size_t node = 0; node < kMostDispatchNodes; ++node) {
    DispatchPolicy policy;
    policy.clairvoyant = true;
    policy.choose = [node](Choices choices) {
      const std::size_t task = choices.front().task;
      return task == kLast ? node : task % choices.size();
    };
    std::size_t ended = 0;
    policy.learn = [&](const DispatchChoice& placed, double response_s, const DispatchTimes&) {
      ++ended;
      if (placed.task != kLast) return;
      EXPECT_NEAR(placed.predicted_s, response_s, 1e-6) << node;
      if (placed.placed.memory_short) ++nodes_short;
    };
    (void)run({kLast + 1, 80}, policy);
    EXPECT_EQ(ended, kLast + 1);
  }
  EXPECT_GE(nodes_short, 2U);
}

// How many nodes there are for the tasks of a history.
std::vector<std::size_t> nodes_of_history(DispatchNodes nodes) {
  std::vector<std::size_t> counts;
  DispatchPolicy policy;
  policy.choose = [&counts](Choices choices) {
    counts.push_back(choices.size());
    return choices.front().task % choices.size();
  };
  live_through_history({0, 20, false, nodes}, kDispatchedWorld, 1100, policy);
  return counts;
}

TEST(DispatchHistory, IsLivedOnNodesThatAreThereAtFirst) {
  EXPECT_EQ(nodes_of_history(DispatchNodes::kAll), std::vector<std::size_t>(1100, 11));
  EXPECT_EQ(nodes_of_history(DispatchNodes::kChanging), std::vector<std::size_t>(1100, 8));
}

TEST(DispatchHistory, OfTheNetworkIsLivedThereToo) {
  const auto trained_on = [](DispatchNodes nodes) {
    return train_net({{kDispatchedWorld}, 48, false, 200, 7, nodes}).weights();
  };
  const auto changing = trained_on(DispatchNodes::kChanging);
  EXPECT_EQ(changing, trained_on(DispatchNodes::kFirst));
  EXPECT_NE(changing, trained_on(DispatchNodes::kAll));
}

}  // namespace
}  // namespace slackline::sim

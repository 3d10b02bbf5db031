// The deep Q-network of paper 001 as a policy: it learns, the same way each time, on a
// cluster whose nodes come and go.
#include "sim/presets/dispatch_dqn.h"

#include <algorithm>
#include <span>

#include <gtest/gtest.h>

#include "sim/presets/dispatch_learning.h"

namespace slackline::sim {
namespace {

constexpr std::uint64_t kWorld = 3;

DispatchOutcome judged(const DispatchPolicy& policy, bool node_changes = false) {
  const DispatchLoad load{node_changes ? 2200 : 300, 20, false, node_changes};
  return run_dispatch(load, draw_hidden(load, kWorld), draw_dispatched(load, 1), policy);
}

DispatchPolicy trained(DqnKind kind, int tasks, std::uint64_t seed = 5) {
  DqnDispatcher dqn(kind, seed);
  live_through_history({0, 20}, kWorld, tasks, dqn.learning());
  return dqn.fixed();
}

TEST(DispatchDqn, TheSameHistoryAndSeedGiveTheSameDecisions) {
  constexpr int kTasks = 60;  // the larger network is slow under sanitizers
  for (const DqnKind kind : {DqnKind::kPaper, DqnKind::kSharedNow})
    EXPECT_EQ(judged(trained(kind, kTasks)).mean_response_s,
              judged(trained(kind, kTasks)).mean_response_s);
  EXPECT_NE(judged(trained(DqnKind::kPaper, kTasks)).mean_response_s,
            judged(trained(DqnKind::kPaper, kTasks, 6)).mean_response_s);
}

TEST(DispatchDqn, WhatIsSharedByAllNodesLearnsFromFewDecisions) {
  EXPECT_LT(judged(trained(DqnKind::kSharedNow, 1500)).mean_response_s,
            0.8 * judged(trained(DqnKind::kSharedNow, 1)).mean_response_s);
}

TEST(DispatchDqn, GivesTasksOnlyToNodesThatAreThere) {
  for (const DqnKind kind : {DqnKind::kPaper, DqnKind::kShared}) {
    DispatchPolicy policy = trained(kind, 20);
    std::size_t ended = 0;
    policy.learn = [&ended](const DispatchChoice& placed, double, const DispatchTimes&) {
      EXPECT_GE(placed.node, placed.task < 2000 ? 0U : 2U);
      EXPECT_LT(placed.node, placed.task < 1000 ? 8U : 11U);
      ++ended;
    };
    (void)judged(policy, true);
    EXPECT_EQ(ended, 2200U);
  }
}

TEST(DispatchRun, TheChosenOneGetsTheTask) {
  DispatchPolicy by_cost;
  by_cost.cost = [](const DispatchChoice& to) { return to.predicted_s; };
  DispatchPolicy by_choice;
  std::size_t asked = 0;
  by_choice.choose = [&asked](std::span<const DispatchChoice> choices) {
    EXPECT_EQ(choices.front().task, asked++);
    const auto least = std::min_element(choices.begin(), choices.end(), [](auto& a, auto& b) {
      return a.predicted_s < b.predicted_s;
    });
    return static_cast<std::size_t>(least - choices.begin());
  };
  EXPECT_EQ(judged(by_choice).mean_response_s, judged(by_cost).mean_response_s);
  EXPECT_EQ(asked, 300U);
}

}  // namespace
}  // namespace slackline::sim

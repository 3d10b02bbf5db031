// The deep Q-network of paper 001 as a policy: it learns, the same way each time, on a
// cluster whose nodes come and go.
#include "sim/presets/dispatch_dqn.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "sim/presets/dispatch_learning.h"
#include "slackline/core/learning/q_learner.h"

namespace slackline::sim {
namespace {

constexpr std::uint64_t kWorld = 3;

DispatchOutcome judged(const DispatchPolicy& policy, DispatchLoad load = {300, 20}) {
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
    (void)judged(policy, {2200, 20, false, DispatchNodes::kChanging});
    EXPECT_EQ(ended, 2200U);
  }
}

// Of the paper's size. Errors that are not cut make such steps grow by themselves: after sixty of
// them values were beyond 1e18.
TEST(DispatchDqn, PlainStepsDoNotDiverge) {
  core::QSettings settings;
  settings.hidden = {256, 128};
  core::QLearner learner(47, kMostDispatchNodes, settings, 3);
  const std::vector<double> state(47, 1.5);
  for (std::size_t i = 0; i < 60; ++i)
    learner.observe({state, i % kMostDispatchNodes, static_cast<double>(i % 5) - 2, state});
  for (const double value : learner.values(state))
    EXPECT_LT(std::abs(value), 100);
}

}  // namespace
}  // namespace slackline::sim

// Values of decisions by temporal differences, where they are known.
#include "slackline/core/learning/q_learner.h"

#include <vector>

#include <gtest/gtest.h>

namespace slackline::core {
namespace {

// Two states, in each of which one stays or moves to the other. Staying in the second one brings 1,
// all else nothing. With gamma 0.5: staying there is worth 1 / (1 - 0.5) = 2, moving there 0.5 x 2
// = 1, and to stay in the first state, or to go back to it, 0.5 x 1.
constexpr double kGamma = 0.5;

double reward_of(std::size_t state, std::size_t move) {
  return state == 1 && move == 0 ? 1 : 0;
}

std::vector<double> of_state(std::size_t state) {
  return {state == 0 ? 1.0 : 0.0, state == 1 ? 1.0 : 0.0};
}

std::vector<double> of_decision(std::size_t state, std::size_t move) {
  std::vector<double> input = of_state(state);
  input.push_back(move == 1 ? 1 : 0);
  return input;
}

std::vector<double> both_decisions(std::size_t state) {
  std::vector<double> inputs = of_decision(state, 0);
  const std::vector<double> other = of_decision(state, 1);
  inputs.insert(inputs.end(), other.begin(), other.end());
  return inputs;
}

QSettings settings_of(double gamma, bool adam) {
  QSettings settings{{16, 16}, gamma, adam, adam ? 3e-3 : 0.05};
  settings.memory = 200;
  settings.copy_each = 50;
  return settings;
}

template <class Learn>
void walk(int decisions, const Learn& learn) {
  Random random(5);
  std::size_t state = 0;
  for (int i = 0; i < decisions; ++i) {
    const std::size_t move = random.index(2);
    const std::size_t next = move == 0 ? state : 1 - state;
    learn(state, move, next);
    state = next;
  }
}

// One output a move.
QLearner by_states(double gamma, bool adam, std::uint64_t seed = 1) {
  QLearner learner(2, 2, settings_of(gamma, adam), seed);
  walk(4000, [&](std::size_t state, std::size_t move, std::size_t next) {
    learner.observe({of_state(state), move, reward_of(state, move), of_state(next)});
  });
  return learner;
}

TEST(QLearner, FindsTheKnownValuesOfTwoStates) {
  for (const bool adam : {false, true}) {
    const QLearner learner = by_states(kGamma, adam);
    const std::vector<double> first = learner.values(of_state(0));
    const std::vector<double> second = learner.values(of_state(1));
    EXPECT_NEAR(first[0], 0.5, 0.05) << adam;
    EXPECT_NEAR(first[1], 1, 0.05) << adam;
    EXPECT_NEAR(second[0], 2, 0.05) << adam;
    EXPECT_NEAR(second[1], 0.5, 0.05) << adam;
  }
}

TEST(QLearner, FindsTheSameByOneOutputForAllDecisions) {
  QLearner learner(3, 1, settings_of(kGamma, true), 1);
  walk(4000, [&](std::size_t state, std::size_t move, std::size_t next) {
    learner.observe({of_decision(state, move), 0, reward_of(state, move), both_decisions(next)});
  });
  const std::vector<double> first = learner.values(both_decisions(0));
  const std::vector<double> second = learner.values(both_decisions(1));
  EXPECT_NEAR(first[0], 0.5, 0.05);
  EXPECT_NEAR(first[1], 1, 0.05);
  EXPECT_NEAR(second[0], 2, 0.05);
  EXPECT_NEAR(second[1], 0.5, 0.05);
}

TEST(QLearner, LooksNoFurtherThanGammaSays) {
  EXPECT_NEAR(by_states(0, true).values(of_state(0))[1], 0, 0.05) << "it brings nothing itself";
  QLearner learner(2, 2, settings_of(kGamma, true), 1);
  for (int i = 0; i < 2000; ++i)
    learner.observe({of_state(0), 1, 3, {}});
  EXPECT_NEAR(learner.values(of_state(0))[1], 3, 0.05) << "nothing follows";
}

TEST(QLearner, ReplaysOnlyWhatItKeeps) {
  QLearner learner = by_states(0, true);
  walk(2000, [&](std::size_t state, std::size_t move, std::size_t next) {
    learner.observe({of_state(state), move, 5, of_state(next)});
  });
  EXPECT_NEAR(learner.values(of_state(1))[0], 5, 0.1) << "the 1 of before is forgotten";
}

TEST(QLearner, TheSameSeedGivesTheSameBits) {
  const auto asked = of_state(1);
  EXPECT_EQ(by_states(kGamma, true, 7).values(asked), by_states(kGamma, true, 7).values(asked));
  EXPECT_NE(by_states(kGamma, true, 7).values(asked), by_states(kGamma, true, 8).values(asked));
}

}  // namespace
}  // namespace slackline::core

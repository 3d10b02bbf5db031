// Which waiting task gets the GPU that became free.
#include "slackline/core/learning/match.h"

#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slackline::core {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

constexpr double kNowhere = std::numeric_limits<double>::infinity();
const std::vector<int> kGpus = {4, 4};

// "1 on 0": the second task on the first type.
std::string picked(const std::optional<MatchPick>& pick) {
  return pick ? std::to_string(pick->waiting) + " on " + std::to_string(pick->type) : "none";
}

MatchTask task(std::vector<double> time_s, double waited_s = 0, bool measured = true) {
  return {waited_s, std::move(time_s), measured};
}

TEST(Match, TheGpuGoesToTheTaskThatGainsMostByIt) {
  const std::vector<MatchTask> waiting = {task({100, 90}), task({400, 100})};
  EXPECT_EQ(picked(match(waiting, kGpus, std::vector{0, 1})), "1 on 1");
  EXPECT_EQ(picked(match(waiting, kGpus, std::vector{1, 0})), "0 on 0");
  EXPECT_EQ(picked(fastest_free(waiting, std::vector{0, 1})), "0 on 1") << "the oldest, whatever";
  EXPECT_EQ(picked(match(waiting, kGpus, std::vector{0, 0})), "none");
  EXPECT_EQ(picked(match({}, kGpus, std::vector{1, 1})), "none");
}

TEST(Match, ATaskThatWaitsLongComesToItsTurn) {
  const auto waiting = [](double waited_s) {
    return std::vector<MatchTask>{task({100, 95}, waited_s), task({400, 100})};
  };
  EXPECT_EQ(picked(match(waiting(10), kGpus, std::vector{0, 1})), "1 on 1");
  EXPECT_EQ(picked(match(waiting(2000), kGpus, std::vector{0, 1})), "0 on 1");
  EXPECT_EQ(picked(match(waiting(2000), kGpus, std::vector{0, 1}, kNowhere)), "1 on 1")
      << "without aging";
}

TEST(Match, ItTriesOnlyTypesOnWhichATaskMayRun) {
  const std::vector<MatchTask> waiting = {task({kNowhere, 100}), task({50, 60})};
  EXPECT_EQ(picked(match(waiting, kGpus, std::vector{1, 0})), "1 on 0");
  EXPECT_EQ(picked(fastest_free(waiting, std::vector{1, 0})), "1 on 0");
}

TEST(Match, WhileFewSpeedsAreMeasuredTheOldestIsNext) {
  const std::vector<MatchTask> guessed = {task({100, 90}), task({400, 100}, 0, false),
                                          task({400, 100}, 0, false)};
  EXPECT_EQ(picked(match(guessed, kGpus, std::vector{0, 1})), "0 on 1");
}

TEST(RelativeSpeeds, WhatIsUnknownIsAsTheFamilyElseAsAllAre) {
  RelativeSpeeds speeds(2);
  EXPECT_THAT(speeds.of({"resnet", "64"}).speed, ElementsAre(1, 1)) << "nothing is known";
  speeds.observe({"resnet", "32"}, 0, 1);
  speeds.observe({"resnet", "32"}, 1, 16);
  speeds.observe({"lstm", "5"}, 0, 10);
  speeds.observe({"lstm", "5"}, 1, 10);
  const auto own = speeds.of({"resnet", "32"});
  EXPECT_TRUE(own.measured);
  EXPECT_THAT(own.speed, ElementsAre(DoubleNear(0.25, 1e-9), DoubleNear(4, 1e-9)));
  const auto family = speeds.of({"resnet", "64"});
  EXPECT_FALSE(family.measured);
  EXPECT_THAT(family.speed, ElementsAre(DoubleNear(0.25, 1e-9), DoubleNear(4, 1e-9)));
  const auto stranger = speeds.of({"bert", "8"});
  EXPECT_THAT(stranger.speed, ElementsAre(DoubleNear(0.5, 1e-9), DoubleNear(2, 1e-9)));
}

TEST(RelativeSpeeds, OneTypeIsKnownAndTheOtherIsInTheUsualRatio) {
  RelativeSpeeds speeds(2);
  speeds.observe({"resnet", "32"}, 0, 1);
  speeds.observe({"resnet", "32"}, 1, 16);
  speeds.observe({"resnet", "64"}, 1, 8);
  const auto half = speeds.of({"resnet", "64"});
  EXPECT_FALSE(half.measured);
  EXPECT_THAT(half.speed, ElementsAre(DoubleNear(0.25, 1e-9), DoubleNear(4, 1e-9)));
}

}  // namespace
}  // namespace slackline::core

#include "slackline/core/planning/lost_work.h"

#include <limits>

#include <gtest/gtest.h>

namespace slackline::core {
namespace {

TEST(LostWork, IsTheWorkSinceTheLastCheckpointThatIsKnown) {
  EXPECT_EQ(unsaved_s({.worked_s = 1000}), 1000) << "since the start";
  EXPECT_EQ(unsaved_s({.worked_s = 1000, .since_progress_s = 70}), 70);
  EXPECT_EQ(unsaved_s({.worked_s = 1000, .checkpoint_interval_s = 300, .since_progress_s = 70}),
            100);
  EXPECT_EQ(unsaved_s({.worked_s = 1000, .since_checkpoint_s = 30, .checkpoint_interval_s = 300}),
            30);
}

TEST(LostWork, IsNeverMoreThanTheRunDid) {
  EXPECT_EQ(unsaved_s({.worked_s = 1000, .since_checkpoint_s = 5000}), 1000)
      << "a checkpoint of an earlier run saves nothing of this one";
  EXPECT_EQ(unsaved_s({.worked_s = 1000, .since_progress_s = 5000}), 1000);
  EXPECT_EQ(unsaved_s({.worked_s = -5, .checkpoint_interval_s = 300}), 0);
}

TEST(LostWork, DoesNotBelieveWhatCannotBe) {
  EXPECT_EQ(unsaved_s({.worked_s = 1000, .since_checkpoint_s = -1}), 1000);
  EXPECT_EQ(unsaved_s({.worked_s = 1000, .checkpoint_interval_s = 0}), 1000);
  EXPECT_EQ(lost_gpu_s({.worked_s = std::numeric_limits<double>::infinity()}, 2), 0);
}

TEST(LostWork, CountsTheRestartOnEveryGpu) {
  EXPECT_EQ(lost_gpu_s({.worked_s = 1000, .since_checkpoint_s = 100, .restart_s = 60}, 4), 640);
  EXPECT_EQ(lost_gpu_s({.worked_s = 1000, .since_checkpoint_s = 0, .restart_s = 60}, 4), 240);
}

}  // namespace
}  // namespace slackline::core

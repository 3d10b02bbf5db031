#include "slackline/core/planning/lost_work.h"

#include <limits>

#include <gtest/gtest.h>

#include "slackline/core/planning/overtime.h"

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

// An old one that is told does not make a run that saves its work cost all of it.
TEST(LostWork, CountsFromTheLaterOfTheCheckpointThatIsToldAndTheRegularOne) {
  EXPECT_EQ(unsaved_s({.worked_s = 1000, .since_checkpoint_s = 900, .checkpoint_interval_s = 300}),
            100);
  EXPECT_EQ(unsaved_s({.worked_s = 1000, .since_checkpoint_s = -1, .checkpoint_interval_s = 300}),
            100);
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

TEST(Overtime, IsWhatARunTakesBeyondItsWorkOrSaysThatItDidNothingIn) {
  core::Run run;
  run.overhead_s = 100;
  EXPECT_EQ(overtime_s(run, 1000, 50), 0);
  EXPECT_EQ(overtime_s(run, 1000, 1100), 0);
  EXPECT_EQ(overtime_s(run, 1000, 1500), 400);
  run.left = 0.5;
  EXPECT_EQ(overtime_s(run, 1000, 1500), 900);
  run.reported = ReportedWork{1400, 0.25};
  EXPECT_EQ(overtime_s(run, 1000, 1500), 1050) << "it did 250 s of work, and 100 s since";
  run.reported = ReportedWork{200, 0.25};
  EXPECT_EQ(overtime_s(run, 1000, 300), 0) << "it was faster than that";
}

TEST(Overtime, IsNotLost) {
  core::Run run;
  run.overhead_s = 100;
  run.predicted_end_s = 1100;
  EXPECT_EQ(wasted_gpu_s(run, 1000, 0.5, 2, 600), 2 * 100) << "the start-up";
  EXPECT_EQ(wasted_gpu_s(run, 1000, 0, 2, 5000), 2 * 100);
  EXPECT_EQ(wasted_gpu_s(run, 1000, 1, 2, 5000), 2 * 1100) << "all that it should have taken";
  run.reported = ReportedWork{5000, 0.5};
  EXPECT_EQ(wasted_gpu_s(run, 9000, 1, 2, 5000), 2 * 1100) << "and no more, as slow as it says";
}

}  // namespace
}  // namespace slackline::core

// How far a planner believes what a run tells of itself, and what it makes of it.
#include "slackline/core/cluster/run_progress.h"

#include <cmath>

#include <gtest/gtest.h>

#include "slackline/base/duration.h"
#include "slackline/core/planning/lost_work.h"
#include "slackline/core/planning/policy.h"
#include "slackline/core/planning/rollout.h"

namespace slackline::core {
namespace {

constexpr double kWork_s = 10000;
constexpr double kStart_s = 1000;

class RunProgressTest : public testing::Test {
 protected:
  // A task of 10,000 s on one GPU since 1000 s; `checkpoint_s` as PlanTask's.
  PlanState& start(std::optional<ProgressNote> told, double checkpoint_s = kNever) {
    PlanTask task;
    task.checkpoint_s = checkpoint_s;
    task.restart_s = 0;
    task.menu = std::make_shared<const PlacementMenu>(
        make_menu({{0, {1, 1}, 1, kWork_s, 0, 0}}, {Pool{GpuType("A"), "gpu", 1, {}}}, {}));
    table_ = TaskTable({task});
    state_.emplace(table_, FreeGpus(std::vector<std::vector<int>>{{1}}));
    state_->arrive(0);
    core::Run run = state_->run_at(0, 0, kStart_s, {});
    if (told) believe_progress(*told, kWork_s, run);
    state_->start(0, std::move(run));
    return *state_;
  }

  static ProgressNote told(std::int64_t iteration, double at_s,
                           std::optional<ProgressPoint> first = {}) {
    return {.iteration = iteration, .total = 1000, .at_s = at_s, .first = first};
  }

  TaskTable table_;
  std::optional<PlanState> state_;
};

TEST_F(RunProgressTest, TheEndFollowsFromTheReportAndItsSpeed) {
  // Half as fast as predicted: 100 of 1000 in 2000 s.
  const PlanState& state = start(told(100, 3000, ProgressPoint{0, 1000}));
  EXPECT_NEAR(state.observed_work_s(0, 3000), 20000, 1e-6);
  EXPECT_NEAR(state.observed_end_s(0, 3000), 3000 + 0.9 * 20000, 1e-6);
  EXPECT_NEAR(state.predicted_end_s(0, 3000), kStart_s + kWork_s, 1e-6) << "for who does not learn";
}

TEST_F(RunProgressTest, WithoutASpeedTheReportStillSaysWhatIsLeft) {
  const PlanState& state = start(told(100, 3000));
  EXPECT_NEAR(state.observed_end_s(0, 3000), 3000 + 0.9 * kWork_s, 1e-6);
}

TEST_F(RunProgressTest, NobodyComesNearTheEndBySayingSo) {
  // Of what 100 s were predicted to do, at most twice as much is believed.
  const PlanState& state = start(told(999, 1100, ProgressPoint{0, 1001}));
  EXPECT_NEAR(state.progress(0).run.reported->left, 1 - 2 * 100 / kWork_s, 1e-9);
  EXPECT_EQ(state.progress(0).run.observed_work_s, kWork_s / kMostSpeedup);
}

TEST_F(RunProgressTest, ForecastsFollowTheReport) {
  const PlanState& state = start(told(100, 3000, ProgressPoint{0, 1000}));
  for (const char* policy : {"savable", "default"}) {
    const auto forecasts = rollout(state, 3100, *parse_policy(policy), {0}, {});
    ASSERT_EQ(forecasts.size(), 1U);
    EXPECT_NEAR(forecasts[0].finish_s.p50(), 3000 + 0.9 * 20000, 1) << policy;
  }
}

TEST_F(RunProgressTest, AReportFromBeforeTheStartSaysNothing) {
  const PlanState& state = start(told(500, 900));
  EXPECT_FALSE(state.progress(0).run.reported);
  EXPECT_NEAR(state.observed_end_s(0, 3000), kStart_s + kWork_s, 1e-6);
}

TEST_F(RunProgressTest, AStopKeepsWhatWasReported) {
  PlanState& state = start(told(300, 4000));
  EXPECT_EQ(unsaved_s(saved_work(state, 0, 4500)), 500);
  EXPECT_NEAR(state.left_if_stopped(0, kWork_s, 4500), 0.7, 1e-9);
  state.stop(0, 4500);
  EXPECT_NEAR(state.progress(0).left, 0.7, 1e-9);
}

TEST_F(RunProgressTest, CheckpointsCountBeforeReports) {
  const PlanState& state = start(told(300, 4000), 600);
  EXPECT_EQ(unsaved_s(saved_work(state, 0, 4500)), 500) << "3500 s in checkpoints of 600 s";
  EXPECT_EQ(unsaved_s(saved_work(state, 0, 4700)), 100);
  // 600 s after the report: as much further on as is predicted for them.
  EXPECT_NEAR(state.left_if_stopped(0, kWork_s, 4700), 0.7 - 600 / kWork_s, 1e-9);
}

TEST_F(RunProgressTest, WithoutAnyOfThemAStopLosesTheWholeRun) {
  const PlanState& state = start(std::nullopt);
  EXPECT_EQ(unsaved_s(saved_work(state, 0, 4500)), 3500);
  EXPECT_EQ(state.left_if_stopped(0, kWork_s, 4500), 1);
}

TEST_F(RunProgressTest, AbsurdReportsAreNotBelieved) {
  for (const ProgressNote& note : {told(0, 1e300), told(1000, kStart_s), told(-5, 2000)}) {
    const PlanState& state = start(note);
    EXPECT_TRUE(std::isfinite(state.observed_end_s(0, 3000)));
    EXPECT_GE(state.left_if_stopped(0, kWork_s, 3000), 0);
    EXPECT_LE(state.left_if_stopped(0, kWork_s, 3000), 1);
  }
}

}  // namespace
}  // namespace slackline::core

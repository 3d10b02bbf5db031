// Calibration runs as the planner has them made, and what people are told.
#include "control/plan/calibrator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/duration.h"
#include "slackline/model/reason.h"
#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class CalibratorTest : public testing::Test {
 protected:
  CalibratorTest() {
    options_.catalog = &catalog_;
    options_.predictor = std::make_shared<const core::Predictor>(WorkloadProfiles());
    options_.now_wall_s = clock_.wall_s();
    rules_.idle_for_s = 10;
  }

  ClusterSnapshot idle() const {
    auto job = a_job("train").of(1).gang().gpus(1).trains("net", 64, 1000).finished();
    job.intent().placements = {{1, 1}, {1, 2}};
    Job allowed = job.build();
    allowed.gpu_container = "train";
    allowed.calibration = CalibrationMark::kAllowed;
    return a_cluster().with(a_node("n1").of("T4", 4)).add(allowed).build();
  }

  double look(const ClusterSnapshot& snapshot) {
    core::TaskMenus menus;
    core::Queue queue = core::make_queue(snapshot, options_, menus);
    return calibrator_.look(snapshot, options_, queue, rules_);
  }
  std::size_t made() {
    while (calibrator_.make_next()) {
    }
    return writer_.calibrated.size();
  }
  std::vector<std::string> told() const {
    std::vector<std::string> reasons;
    for (const TaskEvent& event : events_)
      reasons.push_back(event.object.name + " " + event.reason);
    return reasons;
  }

  test::FakeClock clock_;
  obs::MetricsRegistry metrics_;
  test::FakeWriter writer_;
  std::vector<TaskEvent> events_;
  const GpuCatalog catalog_ = default_gpu_catalog();
  core::QueueOptions options_;
  CalibrationRules rules_;
  Calibrator calibrator_{writer_,
                         [this](TaskEvent event) {
                           events_.push_back(std::move(event));
                           return true;
                         },
                         metrics_, clock_};
};

TEST_F(CalibratorTest, RunsAreMadeOnceNobodyHasWaitedForAWhile) {
  const double next_s = look(idle());
  EXPECT_EQ(made(), 0U);
  EXPECT_LE(next_s, clock_.steady_s() + rules_.idle_for_s) << "nothing else may wake the planner";
  clock_.advance(rules_.idle_for_s);
  look(idle());
  EXPECT_EQ(made(), 2U);
  EXPECT_THAT(told(), ElementsAre("train CalibrationStarted", "train CalibrationStarted"));
  look(idle());
  EXPECT_EQ(made(), 2U) << "the watch does not show them yet";
}

TEST_F(CalibratorTest, WhoAsksDoesNotWait) {
  look(idle());
  calibrator_.ask("another");
  look(idle());
  EXPECT_EQ(made(), 0U);
  calibrator_.ask("net");
  look(idle());
  EXPECT_EQ(made(), 2U);
}

TEST_F(CalibratorTest, AMissingRightIsToldAndNotAskedForAllTheTime) {
  writer_.on_calibrate = [](const auto&) { return Status(fail(ErrorCode::kForbidden, "no")); };
  rules_.idle_for_s = 0;
  look(idle());
  const std::size_t asked = made();
  EXPECT_THAT(told(), testing::Contains("train CalibrationNotAllowed"));
  clock_.advance(60);
  look(idle());
  EXPECT_EQ(made(), asked);
  clock_.advance(600);
  look(idle());
  EXPECT_GT(made(), asked);
}

TEST_F(CalibratorTest, WithoutAnythingToLearnThePlannerIsLeftInPeace) {
  EXPECT_EQ(look(a_cluster().with(a_node("n1").of("T4", 4)).build()), kNever);
  rules_.gpu_minutes_per_day = 0;
  EXPECT_EQ(look(idle()), kNever);
}

}  // namespace
}  // namespace slackline::control

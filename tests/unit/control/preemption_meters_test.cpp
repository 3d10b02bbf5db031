#include "control/plan/preemption_meters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/hand_over_world.h"

namespace slackline::control {
namespace {

using test::a_job;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kFree =
    R"(slackline_preemption_requested_to_free_seconds_count{class="normal"} 1)";
constexpr const char* kAgain =
    R"(slackline_preemption_stop_to_running_again_seconds_count{class="normal"} 1)";

class PreemptionMetersTest : public testing::Test {
 protected:
  // A Job that is stopped for an urgent one, and takes its time to end.
  void stop_one() {
    world_.add(test::a_node("n1").of("", 8));
    auto victim = a_job("victim").gpus(8).waiting().created(world_.now_s());
    victim.intent().expected_duration_s = 86400;
    victim.intent().checkpoint_interval_s = 600;
    world_.add(victim);
    ASSERT_TRUE(planner_.settle(world_));
    world_.pass(3700);
    world_.linger("victim");
    look();
    auto urgent = a_job("urgent").gpus(8).waiting().created(world_.now_s());
    urgent.intent().expected_duration_s = 600;
    urgent.intent().qos_class = QosClass::kUrgent;
    world_.add(urgent);
    ASSERT_TRUE(planner_.settle(world_));
  }
  void let_end() {
    world_.linger("victim", false);
    world_.make_pods();
    ASSERT_TRUE(planner_.settle(world_));
  }
  void look() {
    core::TaskMenus menus;
    const ClusterSnapshot now = world_.snapshot();
    meters_.see(now, core::make_queue(now, planner_.options(world_.now_s()), menus), {},
                world_.now_s());
  }

  test::HandOverWorld world_;
  test::WorldPlanner planner_{1, "default"};
  obs::MetricsRegistry metrics_;
  PreemptionMeters meters_{metrics_};
};

TEST_F(PreemptionMetersTest, AStopIsMeasuredUntilItsGpusAreFreeAndUntilItRunsAgain) {
  stop_one();
  look();
  world_.pass(7);
  look();
  EXPECT_THAT(metrics_.expose(), Not(HasSubstr("slackline_preemption_requested")));
  let_end();
  look();
  EXPECT_THAT(metrics_.expose(), HasSubstr(kFree));
  EXPECT_THAT(metrics_.expose(), HasSubstr(R"(to_free_seconds_bucket{class="normal",le="5"} 0)"));
  EXPECT_THAT(metrics_.expose(), HasSubstr(R"(to_free_seconds_bucket{class="normal",le="10"} 1)"));
  EXPECT_THAT(metrics_.expose(), Not(HasSubstr("running_again")));
  world_.finish("urgent");
  ASSERT_TRUE(planner_.settle(world_));
  look();
  look();
  EXPECT_THAT(metrics_.expose(), HasSubstr(kAgain));
  EXPECT_THAT(metrics_.expose(), HasSubstr(kFree));
}

TEST_F(PreemptionMetersTest, AStopOfUnknownAgeIsNotMeasured) {
  stop_one();
  meters_.forget();
  look();
  world_.pass(7);
  let_end();
  look();
  EXPECT_THAT(metrics_.expose(), Not(HasSubstr("slackline_preemption_requested")));
}

}  // namespace
}  // namespace slackline::control

// Leaving active mode: whatever still waits for a planner is given back, and nothing before that.
#include "control/plan/give_back.h"

#include <string>

#include <gtest/gtest.h>

#include "support/cluster_builder.h"
#include "support/fake_cluster.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;

class GiveBackTest : public testing::Test {
 protected:
  static ClusterSnapshot one_waits() {
    return a_cluster().with(a_node("n1")).with(a_job("a").gpus(4).waiting()).build();
  }

  static cluster::LeaseSight unchanged_for(double seconds) {
    cluster::LeaseSight sight;
    sight.exists = true;
    sight.holder = "a";
    sight.unchanged_s = seconds;
    return sight;
  }

  obs::MetricsRegistry metrics_;
  test::FakeSource source_{one_waits()};
  test::FakeWriter writer_;
  Result<cluster::LeaseSight> sight_ = unchanged_for(0);
  int asked_ = 0;
  const LeaseLook look_ = [this] {
    ++asked_;
    return sight_;
  };
  Actuator actuator_{writer_, metrics_, [] {}, system_clock()};
  Published<PlannerView> view_;
  GiveBack return_{source_, &actuator_, look_, view_};
};

TEST_F(GiveBackTest, WhoeverStillPlansKeepsItsTasks) {
  sight_ = unchanged_for(kNobodyPlans_s - 1);
  EXPECT_EQ(return_.look(), 0U);
  sight_ = fail(ErrorCode::kUnavailable, "connection refused");
  EXPECT_EQ(return_.look(), 0U) << "who cannot be asked may be planning";
}

TEST_F(GiveBackTest, ALeaseThatLastsLongerIsWaitedForLonger) {
  sight_ = unchanged_for(kNobodyPlans_s + 1);
  sight_->duration_s = 60;
  EXPECT_EQ(return_.look(), 0U);
}

TEST_F(GiveBackTest, OnceNobodyPlansTheyAreReturned) {
  sight_ = unchanged_for(kNobodyPlans_s + 1);
  EXPECT_EQ(return_.look(), 1U);
  EXPECT_EQ(return_.look(), 0U) << "it is under way already";
  EXPECT_TRUE(actuator_.send_next());
  EXPECT_EQ(return_.look(), 0U) << "it has been done, and nothing shows it yet";
}

TEST_F(GiveBackTest, WithoutTheFlagItTellsAndWritesNothing) {
  GiveBack shadow(source_, nullptr, look_, view_);
  EXPECT_EQ(shadow.look(), 0U);
  EXPECT_EQ(shadow.status(), "") << "somebody leads";
  EXPECT_TRUE(view_.get()->left_waiting.empty());
  sight_ = unchanged_for(3600);
  EXPECT_EQ(shadow.look(), 0U);
  EXPECT_NE(shadow.status().find("1 Jobs and 0 pods wait"), std::string::npos) << shadow.status();
  EXPECT_EQ(view_.get()->left_waiting, std::unordered_set<Uid>{a_job("a").build().uid});
  source_.show(a_cluster().with(a_node("n1")).build());
  EXPECT_EQ(shadow.look(), 0U);
  EXPECT_EQ(shadow.status(), "");
  EXPECT_TRUE(view_.get()->left_waiting.empty());
}

TEST_F(GiveBackTest, WhereThereNeverWasAPlannerNothingIsOursToReturn) {
  sight_ = unchanged_for(3600);
  sight_->exists = false;
  EXPECT_EQ(return_.look(), 0U);
}

TEST_F(GiveBackTest, OnACacheThatMayBeWrongNothingIsWritten) {
  sight_ = unchanged_for(kNobodyPlans_s + 1);
  source_.be({.synced = true, .age_s = 400, .stale = true, .detail = ""});
  EXPECT_EQ(return_.look(), 0U);
}

TEST_F(GiveBackTest, WhereNothingWaitsTheLeaseIsNotEvenRead) {
  source_.show(a_cluster().with(a_node("n1")).build());
  EXPECT_EQ(return_.look(), 0U);
  EXPECT_EQ(asked_, 0);
}

}  // namespace
}  // namespace slackline::control

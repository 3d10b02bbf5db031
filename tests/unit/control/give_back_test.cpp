// Leaving active mode: whatever still waits for a planner is given back, and nothing before that.
#include "control/plan/give_back.h"

#include <limits>

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
  void SetUp() override { actuator_.start(); }

  static ClusterSnapshot one_waits() {
    return a_cluster().with(a_node("n1")).with(a_job("a").gpus(4).waiting()).build();
  }

  obs::MetricsRegistry metrics_;
  test::FakeSource source_{one_waits()};
  test::FakeWriter writer_;
  Result<double> age_s_ = 0.0;
  int asked_ = 0;
  Actuator actuator_{writer_, metrics_, [] {}, system_clock()};
  GiveBack give_back_{source_, actuator_, [this] {
                        ++asked_;
                        return age_s_;
                      }};
};

TEST_F(GiveBackTest, WhoeverStillPlansKeepsItsTasks) {
  age_s_ = kNobodyPlans_s - 1;
  EXPECT_EQ(give_back_.look(), 0U);
  age_s_ = fail(ErrorCode::kUnavailable, "connection refused");
  EXPECT_EQ(give_back_.look(), 0U) << "who cannot be asked may be planning";
}

TEST_F(GiveBackTest, OnceNobodyPlansTheyAreGivenBack) {
  age_s_ = kNobodyPlans_s + 1;
  EXPECT_EQ(give_back_.look(), 1U);
  EXPECT_EQ(give_back_.look(), 0U) << "it is under way already";
}

TEST_F(GiveBackTest, WhereThereNeverWasAPlannerNothingIsOursToGiveBack) {
  age_s_ = std::numeric_limits<double>::infinity();
  EXPECT_EQ(give_back_.look(), 0U);
}

TEST_F(GiveBackTest, OnACacheThatMayBeWrongNothingIsWritten) {
  age_s_ = kNobodyPlans_s + 1;
  source_.be({.synced = true, .age_s = 400, .stale = true, .detail = ""});
  EXPECT_EQ(give_back_.look(), 0U);
}

TEST_F(GiveBackTest, WhereNothingWaitsTheLeaseIsNotEvenRead) {
  source_.show(a_cluster().with(a_node("n1")).build());
  EXPECT_EQ(give_back_.look(), 0U);
  EXPECT_EQ(asked_, 0);
}

}  // namespace
}  // namespace slackline::control

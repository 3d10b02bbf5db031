// `slackline release --if-lease-older-than`: who watches a Lease, and when that is over.
#include "control/plan/unled.h"

#include <deque>

#include <gtest/gtest.h>

#include "support/cluster_builder.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_pod;

class UnledTest : public testing::Test {
 protected:
  static cluster::LeaseSight unchanged_for(double seconds) {
    cluster::LeaseSight sight;
    sight.exists = true;
    sight.unchanged_s = seconds;
    return sight;
  }

  Result<bool> wait(double limit_s) {
    return wait_until_unled(
        [this] {
          ++looks_;
          Result<cluster::LeaseSight> next = sights_.front();
          if (sights_.size() > 1) sights_.pop_front();
          return next;
        },
        {.limit_s = limit_s, .look_every_s = 0.001, .patience_s = 0.05});
  }

  std::deque<Result<cluster::LeaseSight>> sights_;
  int looks_ = 0;
};

TEST_F(UnledTest, ARenewalEndsTheWaitAtOnce) {
  cluster::LeaseSight renewed = unchanged_for(0);
  renewed.changed = true;
  sights_ = {unchanged_for(0), unchanged_for(200), renewed, unchanged_for(1000)};
  EXPECT_EQ(wait(300), false);
  EXPECT_EQ(looks_, 3);
}

TEST_F(UnledTest, AnUnchangedLeaseIsWatchedForTheWholeTime) {
  sights_ = {unchanged_for(0), unchanged_for(299), unchanged_for(300)};
  EXPECT_EQ(wait(300), true);
  EXPECT_EQ(looks_, 3);
}

TEST_F(UnledTest, AShorterLimitStillWaitsForTheLeasesOwnDuration) {
  sights_ = {unchanged_for(0), unchanged_for(14), unchanged_for(15)};
  EXPECT_EQ(wait(0), true);
  EXPECT_EQ(looks_, 3);
}

TEST_F(UnledTest, AFailedLookIsTriedAgainForAWhile) {
  const auto failed = fail(ErrorCode::kUnavailable, "connection refused");
  sights_ = {unchanged_for(0), failed, failed, unchanged_for(0), unchanged_for(20)};
  EXPECT_EQ(wait(20), true);
  sights_ = {unchanged_for(0), failed};
  EXPECT_FALSE(wait(20)) << "for ever is too long";
  sights_ = {failed};
  looks_ = 0;
  EXPECT_FALSE(wait(20));
  EXPECT_EQ(looks_, 1) << "who cannot look at all says so at once";
}

TEST(UnledText, CountsWhatCannotRunBeforeSomebodyActs) {
  const auto cluster = a_cluster()
                           .with(a_job("waits").gpus(1).waiting())
                           .with(a_job("runs").gpus(1))
                           .with(a_pod("gated").gpus(1).gated())
                           .with(a_pod("pending").gpus(1))
                           .build();
  const core::HeldBack held = core::held_back(cluster);
  EXPECT_EQ(held.jobs, 1U);
  EXPECT_EQ(held.pods, 1U);
  EXPECT_EQ(unled_text(held).substr(0, 35), "1 Jobs and 1 pods wait for Slacklin");
  EXPECT_EQ(unled_text({}), "");
}

}  // namespace
}  // namespace slackline::control

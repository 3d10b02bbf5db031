// When it is said that kube-scheduler goes on without Slackline.
#include "control/serve/scheduler_news.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"
#include "support/object_builders.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_node;
using test::a_pod;
using ::testing::HasSubstr;

class SchedulerNewsTest : public testing::Test {
 protected:
  static ClusterSnapshot replicas(bool ready) {
    test::ClusterBuilder cluster = a_cluster().with(a_node("control"));
    for (const std::string name : {"slackline-0", "slackline-1"}) {
      Pod pod = a_pod("slackline-system/" + name).on("control").build();
      pod.ready = ready || name != "slackline-0";
      cluster.add(pod);
    }
    return cluster.build();
  }
  void look_for(double seconds, const std::string& holder = "slackline-0") {
    for (double at_s = 0; at_s < seconds; ++at_s) {
      news_.look(holder);
      clock_.advance(1);
    }
    news_.look(holder);
  }
  bool alone() const {
    return metrics_.expose().find("slackline_scheduler_alone 1\n") != std::string::npos;
  }

  obs::MetricsRegistry metrics_;
  test::FakeClock clock_;
  test::FakeSource source_{replicas(false)};
  std::vector<TaskEvent> events_;
  bool accepts_ = true;
  SchedulerNews news_{"slackline-system",
                      "slackline-1",
                      source_,
                      [this](TaskEvent event) {
                        if (accepts_) events_.push_back(std::move(event));
                        return accepts_;
                      },
                      metrics_,
                      clock_};
};

TEST_F(SchedulerNewsTest, TheOtherReplicaTellsAfterAMinute) {
  look_for(kAloneAfter_s - 1);
  EXPECT_FALSE(alone());
  accepts_ = false;
  look_for(1);
  EXPECT_TRUE(alone());
  accepts_ = true;
  look_for(1);
  ASSERT_EQ(events_.size(), 1U) << "tried again until it was taken";
  EXPECT_EQ(events_[0].object.str(), "slackline-system/slackline-0");
  EXPECT_EQ(events_[0].reason, "SlacklineNotAsked");
  EXPECT_THAT(events_[0].message,
              HasSubstr("kubectl -n slackline-system describe pod slackline-0"));
  look_for(SchedulerNews::kAgain_s - 2);
  EXPECT_EQ(events_.size(), 1U);
  look_for(1);
  EXPECT_EQ(events_.size(), 2U) << "still";

  source_.show(replicas(true));
  look_for(1);
  EXPECT_FALSE(alone());
  source_.show(replicas(false));
  look_for(kAloneAfter_s - 1);
  EXPECT_FALSE(alone()) << "counted anew";
}

TEST_F(SchedulerNewsTest, NothingIsToldOfItselfOrOfWhomItDoesNotKnow) {
  for (const std::string holder : {"", "slackline-1", "gpu-scheduler-5f7c"}) {
    look_for(2 * kAloneAfter_s, holder);
    EXPECT_FALSE(alone()) << holder;
  }
  source_.be({.synced = true, .age_s = 200, .stale = true, .detail = "watch silent"});
  look_for(2 * kAloneAfter_s);
  EXPECT_FALSE(alone()) << "its own news are old";
  EXPECT_TRUE(events_.empty());
}

}  // namespace
}  // namespace slackline::control

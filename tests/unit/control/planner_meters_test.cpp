#include "control/plan/planner_meters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/text.h"
#include "support/hand_over_world.h"

namespace slackline::control {
namespace {

using testing::HasSubstr;

constexpr int kOwnSeries = static_cast<int>(obs::kMaxSeries) - 2;

class PlannerMetersTest : public testing::Test {
 protected:
  // So many tasks wait, each in a queue of its own.
  void show_queues(int count) {
    auto cluster = test::a_cluster().with(test::a_node("n1").of("A100", 4));
    for (int number = 0; number < count; ++number) {
      auto job = test::a_job(format("job-{:03}", number)).gpus(1).waiting();
      job.intent().queue = format("queue-{:03}", number);
      cluster.with(job);
    }
    const ClusterSnapshot snapshot = cluster.build();
    meters_.show_queue(core::make_queue(snapshot, planner_.options(0), menus_));
  }
  std::string length(const std::string& queue, const std::string& of_class, int tasks) {
    return format("slackline_queue_length{{class=\"{}\",queue=\"{}\"}} {}\n", of_class, queue,
                  tasks);
  }

  test::WorldPlanner planner_{3};
  core::TaskMenus menus_;
  obs::MetricsRegistry metrics_;
  PlannerMeters meters_{metrics_};
};

TEST_F(PlannerMetersTest, QueuesBeyondTheirSeriesAreAddedUp) {
  show_queues(kOwnSeries + 30);
  EXPECT_THAT(metrics_.expose(), HasSubstr(length("queue-000", "normal", 1)));
  EXPECT_THAT(metrics_.expose(), HasSubstr(length("other", "other", 30)));
  show_queues(1);
  EXPECT_THAT(metrics_.expose(), HasSubstr(length("queue-000", "normal", 1)));
  EXPECT_THAT(metrics_.expose(), HasSubstr(length("queue-001", "normal", 0)));
  EXPECT_THAT(metrics_.expose(), HasSubstr(length("other", "other", 0)));
}

TEST_F(PlannerMetersTest, SharesBeyondTheirSeriesAreAddedUp) {
  ShareLedger ledger;
  for (int number = 0; number < kOwnSeries / 3 + 10; ++number) {
    ShareLine line;
    line.queue = format("queue-{:03}", number);
    line.gpu_type = "A100";
    line.own = 2;
    line.borrowed = 1;
    ledger.lines.push_back(line);
  }
  meters_.show_shares(ledger);
  EXPECT_THAT(metrics_.expose(),
              HasSubstr(R"(slackline_share_gpus{gpu_type="A100",queue="queue-000",use="own"} 2)"));
  EXPECT_THAT(metrics_.expose(),
              HasSubstr(R"(slackline_share_gpus{gpu_type="other",queue="other",use="other"} 30)"));
}

}  // namespace
}  // namespace slackline::control

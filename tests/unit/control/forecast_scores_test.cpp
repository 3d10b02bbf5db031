// Forecasts are compared with what then happens.
#include "control/query/forecast_scores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"
#include "support/planning_fixture.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;
using ::testing::HasSubstr;
using ::testing::Not;

class ForecastScoresTest : public test::PlanningFixture {
 protected:
  test::JobBuilder job(const std::string& name) {
    auto job = a_job(name).gpus(4).created(began_s_);
    job.intent().expected_duration_s = 1000;
    return job;
  }

  void look(const test::ClusterBuilder& cluster) {
    const test::FakeSource source(cluster.build());
    QueueReader reader(options_, known_, source, planner_, clock_);
    const QueueSight sight = reader.read();
    scores_.score(sight, core::ForecastBook(sight.queue.state(), names_of(sight.queue), sight.now_s,
                                            sight.policy));
  }

  static test::ClusterBuilder cluster() { return a_cluster().with(a_node("n1")); }
  std::string metrics() const { return metrics_.expose(); }

  test::FakeClock clock_;
  Published<PlannerView> planner_;
  const double began_s_ = clock_.wall_s();
  obs::MetricsRegistry metrics_;
  ForecastScores scores_{metrics_};
};

// The first of two Jobs is to start at once and to end 1000 s later, when the second starts.
TEST_F(ForecastScoresTest, StartAndFinishAreComparedWithWhatWasToldFirst) {
  const auto first = [&] { return job("a").waiting(); };
  const auto second = [&] { return job("b").waiting(); };
  look(cluster());
  look(cluster().with(first()).with(second()));
  EXPECT_THAT(metrics(), Not(HasSubstr("slackline_forecast_error_seconds")));

  clock_.advance(3);
  const auto runs = [&] {
    return cluster()
        .with(job("a").managed().planned({"n1"}).started(began_s_ + 2))
        .with(a_pod("a-0").of_job("a").gpus(4).on("n1").started(began_s_ + 2))
        .with(second());
  };
  look(runs());
  const std::string started = R"({of="start",queue="default"})";
  EXPECT_THAT(metrics(), HasSubstr("slackline_forecast_error_seconds_sum" + started + " 2\n"));
  EXPECT_THAT(metrics(), HasSubstr("slackline_forecast_intervals_total"
                                   R"({held="true",of="start",queue="default"} 1)"))
      << "two seconds are forgiven";

  clock_.advance(5000);
  look(cluster().with(job("a").managed().finished().completed(began_s_ + 5000)).with(second()));
  const std::string finished = R"({of="finish",queue="default"})";
  EXPECT_THAT(metrics(), HasSubstr("slackline_forecast_error_seconds_sum" + finished + " 4000\n"));
  EXPECT_THAT(metrics(), HasSubstr("slackline_forecast_intervals_total"
                                   R"({held="false",of="finish",queue="default"} 1)"));
  clock_.advance(1);
  look(cluster().with(second()));
  EXPECT_THAT(metrics(), HasSubstr("slackline_forecast_error_seconds_count" + finished + " 1\n"));
}

TEST_F(ForecastScoresTest, WhatFailsIsDeletedOrHasNoKnownLengthHasNoFinishToCompare) {
  auto unsaid = a_job("unsaid").gpus(1).created(began_s_).waiting();
  look(cluster());
  look(cluster().with(job("fails").waiting()).with(job("goes").waiting()).with(unsaid));
  clock_.advance(600);
  auto unsaid_over = a_job("unsaid").gpus(1).created(began_s_).finished().completed(began_s_ + 500);
  look(cluster().with(job("fails").finished()).with(unsaid_over));
  EXPECT_THAT(metrics(), Not(HasSubstr("slackline_forecast_error_seconds")));
}

TEST_F(ForecastScoresTest, QueuesBeyondTheLimitAreOne) {
  look(cluster());
  for (std::size_t i = 0; i < kMostScoredQueues + 2; ++i) {
    const std::string name = "ns" + std::to_string(i) + "/job";
    auto waits = a_job(name).gpus(1).created(clock_.wall_s()).waiting();
    waits.intent().expected_duration_s = 10;
    look(cluster().with(waits));
    clock_.advance(10);
    look(cluster().with(a_job(name).gpus(1).finished().completed(clock_.wall_s())));
  }
  EXPECT_THAT(metrics(), HasSubstr("slackline_forecast_error_seconds_count"
                                   R"({of="finish",queue="other"} 2)"));
  EXPECT_THAT(metrics(), HasSubstr("slackline_forecast_error_seconds_count"
                                   R"({of="finish",queue="ns0"} 1)"));
}

}  // namespace
}  // namespace slackline::control

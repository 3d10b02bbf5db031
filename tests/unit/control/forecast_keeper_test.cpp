// The book of forecasts, look by look.
#include "control/query/forecast_keeper.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/model/reason.h"
#include "support/cluster_builder.h"
#include "support/eventually.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"
#include "support/planning_fixture.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using ::testing::HasSubstr;

class ForecastKeeperTest : public test::PlanningFixture {
 protected:
  ClusterSnapshot two_that_wait() const {
    const double now_s = clock_.wall_s();
    auto first = a_job("first").gpus(4).waiting().created(now_s);
    first.intent().expected_duration_s = 3600;
    first.intent().deadline_s = now_s + 4000;
    auto second = a_job("second").gpus(4).waiting().created(now_s);
    second.intent().expected_duration_s = 3600;
    second.intent().deadline_s = now_s + 5000;  // it cannot be kept: the first takes an hour
    return a_cluster().with(a_node("n1")).with(first).with(second).build();
  }

  test::FakeClock clock_;
  test::FakeSource source_{two_that_wait()};
  Published<PlannerView> planner_;
  Published<WrittenBook> books_;
  obs::MetricsRegistry metrics_;
  std::vector<std::string> told_;
  ForecastKeeper keeper_{options_,
                         known_,
                         source_,
                         planner_,
                         books_,
                         [this](const TaskEvent& event) {
                           told_.push_back(event.object.name + " " + event.reason);
                           return true;
                         },
                         metrics_,
                         clock_};
};

TEST_F(ForecastKeeperTest, WritesTheBookAndTellsWhoComesAndWhoWillBeLate) {
  planner_.set({.active = true, .leads = true, .leader = "me", .backoffs = {}});
  clock_.advance(1);
  EXPECT_EQ(keeper_.look(), kLook_s);
  EXPECT_EQ(told_,
            (std::vector<std::string>{"first Queued", "second Queued", "second DeadlineAtRisk"}));
  const core::Forecast* second = books_.get()->book->find(Uid("job:default/second"));
  ASSERT_NE(second, nullptr);
  EXPECT_NEAR(second->start_s.p50(), clock_.wall_s() + 3600, 60);
  EXPECT_EQ(books_.get()->arrivals->tasks.size(), 2U) << "both are expected to come again";
  keeper_.refresh_metrics();
  const std::string metrics = metrics_.expose();
  EXPECT_THAT(metrics, HasSubstr("slackline_queue_waiting{reason=\"WaitsItsTurn\"} 2"));
  EXPECT_THAT(metrics, HasSubstr("slackline_queue_predicted_late 1"));
  EXPECT_THAT(metrics, HasSubstr("slackline_queue_could_start 1"));
  EXPECT_THAT(metrics, HasSubstr("slackline_forecast_book_tasks 2"));
}

TEST_F(ForecastKeeperTest, WithoutAChangeTheBookStays) {
  keeper_.look();
  const auto book = books_.get()->book;
  EXPECT_EQ(book->size(), 2U);
  clock_.advance(kStale_s);
  EXPECT_EQ(keeper_.look(), kLook_s);
  EXPECT_EQ(books_.get()->book, book);
  clock_.advance(1);
  keeper_.look();
  EXPECT_NE(books_.get()->book, book) << "somebody waits, and it is a minute old";
  EXPECT_TRUE(told_.empty()) << "only the leader tells";
}

TEST_F(ForecastKeeperTest, WhereNoPlannerRunsItTellsIfAKeySaysSo) {
  control::Settings settings = *settings_.get();
  settings.shadow_events = true;
  settings_.set(settings);
  planner_.set({.active = true, .leads = false, .leader = "other", .backoffs = {}});
  keeper_.look();
  EXPECT_TRUE(told_.empty()) << "one plans, and another replica leads";
  planner_.set({});
  clock_.advance(kStale_s + 1);
  keeper_.look();
  EXPECT_THAT(told_, testing::Contains("first Queued"));
}

TEST_F(ForecastKeeperTest, WhenSomebodyShouldHaveStartedTheBookIsWrittenAgain) {
  auto cluster = a_cluster().with(a_node("n1"));
  for (const char* name : {"first", "second"}) {
    auto job = a_job(name).gpus(4).waiting().created(clock_.wall_s());
    job.intent().expected_duration_s = 20;
    cluster.with(job);
  }
  source_.show(cluster.build());
  keeper_.look();
  const auto book = books_.get()->book;
  const double starts_in_s = book->holds_until_s() - clock_.wall_s();
  EXPECT_NEAR(starts_in_s, 20, 10);
  clock_.advance(starts_in_s - 1);
  keeper_.look();
  EXPECT_EQ(books_.get()->book, book);
  clock_.advance(2);
  keeper_.look();
  EXPECT_NE(books_.get()->book, book);
}

TEST(HoldMeters, TellActiveHoldsFromThoseThatHaveExpired) {
  ClusterSnapshot snapshot;
  Hold active;
  active.expires_s = 101;
  Hold nominated;  // for as long as it stands
  Hold expired;
  expired.expires_s = 99;
  snapshot.holds = HoldTable(2, {0, 0, 1}, {active, nominated, expired});
  obs::MetricsRegistry metrics;
  const HoldMeters meters(metrics);
  meters.show(snapshot, 100);
  EXPECT_THAT(metrics.expose(), HasSubstr("slackline_holds{state=\"active\"} 2"));
  EXPECT_THAT(metrics.expose(), HasSubstr("slackline_holds{state=\"expired\"} 1"));
  meters.show({}, 100);
  EXPECT_THAT(metrics.expose(), HasSubstr("slackline_holds{state=\"active\"} 0"));
}

// A book of thousands takes many seconds; SIGTERM does not wait for it.
TEST_F(ForecastKeeperTest, ABookThatIsBeingWrittenIsLeftWhenItIsStopped) {
  int asked = 0;
  keeper_.look([&] {
    ++asked;
    return false;
  });
  const int whole = asked;
  ASSERT_GT(whole, 4);
  source_.show(two_that_wait());
  for (int stops_at = 1; stops_at < whole; stops_at += 1 + whole / 20) {
    books_.set({});
    asked = 0;
    keeper_.look([&] { return ++asked >= stops_at; });
    EXPECT_EQ(books_.get()->snapshot_version, 0U) << "there was no time to write it";
    EXPECT_LE(asked, stops_at + 9) << "stopped at " << stops_at;
  }
}

TEST_F(ForecastKeeperTest, ItsThreadLooksUntilItIsStopped) {
  keeper_.start();
  EXPECT_TRUE(test::eventually([&] { return books_.get()->snapshot_version > 0; }));
  keeper_.stop();
  keeper_.join();
}

}  // namespace
}  // namespace slackline::control

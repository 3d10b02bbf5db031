// The thread that keeps the book of forecasts.
#include "control/query/book_keeper.h"

#include <chrono>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/model/reason.h"
#include "support/cluster_builder.h"
#include "support/eventually.h"
#include "support/fake_cluster.h"
#include "support/planning_fixture.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::eventually;
using ::testing::HasSubstr;

class BookKeeperTest : public test::PlanningFixture {
 protected:
  static ClusterSnapshot two_that_wait() {
    const double now_s = system_clock().wall_s();
    auto first = a_job("first").gpus(4).waiting().created(now_s);
    first.intent().expected_duration_s = 3600;
    first.intent().deadline_s = now_s + 4000;
    auto second = a_job("second").gpus(4).waiting().created(now_s);
    second.intent().expected_duration_s = 3600;
    second.intent().deadline_s = now_s + 5000;  // it cannot be kept: the first takes an hour
    return a_cluster().with(a_node("n1")).with(first).with(second).build();
  }

  std::unique_ptr<BookKeeper> keeper() {
    return std::make_unique<BookKeeper>(
        options_, known_, source_, planner_, books_,
        [this](cluster::TaskEvent event) {
          MutexLock lock(mutex_);
          events_.push_back(std::move(event));
          return true;
        },
        metrics_, system_clock());
  }

  std::vector<std::string> told() {
    MutexLock lock(mutex_);
    std::vector<std::string> told;
    for (const cluster::TaskEvent& event : events_)
      told.push_back(event.object.name + " " + event.reason);
    return told;
  }

  test::FakeSource source_{two_that_wait()};
  Published<PlannerView> planner_;
  Published<WrittenBook> books_;
  obs::MetricsRegistry metrics_;
  Mutex mutex_;
  std::vector<cluster::TaskEvent> events_ SLACKLINE_GUARDED_BY(mutex_);
};

TEST_F(BookKeeperTest, WritesTheBookAndTellsWhoComesAndWhoWillBeLate) {
  planner_.set({.active = true, .leads = true, .leader = "me", .backoffs = {}});
  const auto keeps = keeper();
  keeps->start();
  ASSERT_TRUE(eventually([&] { return told().size() >= 3; }));
  EXPECT_EQ(told(),
            (std::vector<std::string>{"first Queued", "second Queued", "second DeadlineAtRisk"}));
  const core::Forecast* second = books_.get()->book->find(Uid("job:default/second"));
  ASSERT_NE(second, nullptr);
  EXPECT_NEAR(second->start_s.p50(), system_clock().wall_s() + 3600, 60);
  EXPECT_EQ(books_.get()->arrivals->tasks.size(), 2U) << "both are expected to come again";
  keeps->refresh_metrics();
  keeps->stop();
  keeps->join();
  const std::string metrics = metrics_.expose();
  EXPECT_THAT(metrics, HasSubstr("slackline_queue_waiting{reason=\"WaitsItsTurn\"} 2"));
  EXPECT_THAT(metrics, HasSubstr("slackline_queue_predicted_late 1"));
  EXPECT_THAT(metrics, HasSubstr("slackline_forecast_book_tasks 2"));
}

TEST_F(BookKeeperTest, WithoutAChangeTheBookStays) {
  const auto keeps = keeper();
  keeps->start();
  ASSERT_TRUE(eventually([&] { return books_.get()->book->size() == 2; }));
  const auto book = books_.get()->book;
  std::this_thread::sleep_for(std::chrono::milliseconds(static_cast<int>(2500 * kLook_s)));
  EXPECT_EQ(books_.get()->book, book);
  EXPECT_TRUE(told().empty()) << "only the leader tells";
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

// A book of thousands takes many seconds here; SIGTERM does not wait for it.
TEST_F(BookKeeperTest, ABookThatIsBeingWrittenIsLeftWhenItIsStopped) {
  const double now_s = system_clock().wall_s();
  auto cluster = a_cluster();
  for (int i = 0; i < 50; ++i)
    cluster.with(a_node("n" + std::to_string(i)));
  for (int i = 0; i < 12000; ++i) {
    auto job = a_job("job-" + std::to_string(i)).gpus(1 + i % 4).waiting().created(now_s);
    job.intent().expected_duration_s = 600 + i % 7 * 100;
    job.intent().deadline_s = now_s + 4000 + i;
    cluster.with(job);
  }
  source_.show(cluster.build());
  const auto keeps = keeper();
  keeps->start();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const double stopped_s = system_clock().steady_s();
  keeps->stop();
  keeps->join();
  EXPECT_LT(system_clock().steady_s() - stopped_s, 1.5);
  EXPECT_EQ(books_.get()->snapshot_version, 0U) << "there was no time to write it";
}

}  // namespace
}  // namespace slackline::control

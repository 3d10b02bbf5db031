#include "control/plan/stop_ledger.h"

#include <gtest/gtest.h>

#include "support/cluster_builder.h"
#include "support/fake_clock.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_job;

// The ConfigMap of several replicas.
class FakeStopStore final : public cluster::StopStore {
 public:
  Result<std::optional<cluster::StoredStops>> read() override {
    if (refusal) return fail(*refusal, "no");
    return stored;
  }
  Result<std::string> write(const cluster::StoredStops& stops) override {
    if (refusal) return fail(*refusal, "no");
    if (stops.resource_version != (stored ? stored->resource_version : ""))
      return fail(ErrorCode::kConflict, "another one");
    stored = stops;
    stored->resource_version = std::to_string(++version);
    return stored->resource_version;
  }

  std::optional<cluster::StoredStops> stored;
  std::optional<ErrorCode> refusal;
  int version = 0;
};

class StopLedgerTest : public ::testing::Test {
 protected:
  // The stop of a Job for `asker`, for which team-a pays 100 GPU-seconds.
  OwnWrite stop(const std::string& name, std::int64_t count = 1,
                const std::string& asker = "asker") {
    PreemptionNote note;
    note.count = count;
    note.charges.push_back({"team-a", clock.wall_s(), 100, count});
    return job_write(a_job(name).gpus(4).build(),
                     StopJob{.preemptions = std::make_shared<const PreemptionNote>(note),
                             .asker = {"default", asker}});
  }
  static double lost_gpu_s(StopLedger& of, const ClusterSnapshot& snapshot) {
    double sum_gpu_s = 0;
    for (const BookedStop& each : of.read(snapshot, snapshot, {}, 60).stops)
      sum_gpu_s += each.gpu_s * (each.in_vain_s ? 2 : 1);
    return sum_gpu_s;
  }
  bool is_barred(const ClusterSnapshot& snapshot) {
    const auto barred = ledger.read(snapshot, snapshot, {}, 60).barred_until_s;
    const auto at = barred.find("team-a");
    return at != barred.end() && clock.wall_s() < at->second;
  }

  FakeStopStore store;
  obs::MetricsRegistry metrics;
  test::FakeClock clock;
  StopLedger ledger{store, metrics, clock};
};

TEST_F(StopLedgerTest, ADeletedJobTakesNoChargeAlong) {
  ASSERT_TRUE(ledger.load());
  ASSERT_TRUE(ledger.book(stop("victim")));
  const ClusterSnapshot without = a_cluster().with(a_job("asker").gpus(4)).build();
  EXPECT_EQ(lost_gpu_s(ledger, without), 100);
  StopLedger next(store, metrics, clock);
  ASSERT_TRUE(next.load());
  EXPECT_EQ(lost_gpu_s(next, without), 100) << "whoever leads next knows it";
  clock.advance(core::kAccountedFor_s + 1);
  ASSERT_TRUE(next.book(stop("another")));
  EXPECT_EQ(store.stored->stops.size(), 1U) << "a day is kept";
}

TEST_F(StopLedgerTest, AStopThatWasBookedAndNotMadeIsNotCharged) {
  ASSERT_TRUE(ledger.book(stop("victim", 1, "")));
  StopLedger next(store, metrics, clock);
  ASSERT_TRUE(next.load());
  EXPECT_EQ(lost_gpu_s(next, a_cluster().with(a_job("victim").gpus(4)).build()), 0);
  ASSERT_TRUE(next.book(stop("victim", 1, ""))) << "it is tried again, under its id";
  EXPECT_EQ(lost_gpu_s(next, a_cluster().with(a_job("victim").stopped(1)).build()), 100);
  ASSERT_TRUE(next.book(stop("victim", 2, "")));
  EXPECT_EQ(lost_gpu_s(next, a_cluster().with(a_job("victim").stopped(2)).build()), 200);
}

TEST_F(StopLedgerTest, WhatCannotBeBookedIsNotStopped) {
  store.refusal = ErrorCode::kUnavailable;
  EXPECT_FALSE(ledger.load());
  const Status booked = ledger.book(stop("victim", 1, ""));
  ASSERT_FALSE(booked);
  EXPECT_EQ(booked.error().code, ErrorCode::kInternal) << "nor may it count as perhaps made";
  store.refusal = ErrorCode::kForbidden;
  EXPECT_TRUE(ledger.load()) << "an installation without the right plans all the same";
  EXPECT_TRUE(ledger.book(stop("victim", 1, "")));
  EXPECT_EQ(lost_gpu_s(ledger, a_cluster().build()), 100);
}

TEST_F(StopLedgerTest, TwoReplicasLoseNothingToEachOther) {
  StopLedger other(store, metrics, clock);
  ASSERT_TRUE(ledger.load() && other.load());
  ASSERT_TRUE(ledger.book(stop("a", 1, "")));
  ASSERT_TRUE(other.book(stop("b", 1, "")));
  ASSERT_TRUE(ledger.book(stop("c", 1, "")));
  EXPECT_EQ(store.stored->stops.size(), 3U);
  ledger.forget();
  ASSERT_TRUE(ledger.load());
  EXPECT_EQ(lost_gpu_s(ledger, a_cluster().build()), 300);
}

TEST_F(StopLedgerTest, WhoseTaskIsDeletedAtOncePaysTwiceAndIsBarred) {
  const ClusterSnapshot waits = a_cluster().with(a_job("asker").gpus(4).waiting()).build();
  const ClusterSnapshot runs = a_cluster().with(a_job("asker").gpus(4)).build();
  const ClusterSnapshot gone = a_cluster().build();
  const auto stop_in_vain = [&](std::int64_t count) {
    ASSERT_TRUE(ledger.book(stop("victim", count)));
    EXPECT_FALSE(is_barred(waits)) << "it is not released yet";
    EXPECT_FALSE(is_barred(runs));
    clock.advance(5);
    EXPECT_TRUE(is_barred(gone));
  };
  stop_in_vain(1);
  EXPECT_NEAR(ledger.read(gone, gone, {}, 60).next_bar_ends_s(clock.wall_s()), clock.wall_s() + 60,
              1e-6)
      << "it is planned again then";
  EXPECT_EQ(lost_gpu_s(ledger, gone), 200);
  clock.advance(61);
  EXPECT_FALSE(is_barred(gone));
  stop_in_vain(2);
  clock.advance(61);
  EXPECT_TRUE(is_barred(gone)) << "twice as long";
  clock.advance(60);
  EXPECT_FALSE(is_barred(gone));
}

TEST_F(StopLedgerTest, SeveralStopsForOneTaskAreOneOccasion) {
  ASSERT_TRUE(ledger.book(stop("one")));
  clock.advance(0.5);
  ASSERT_TRUE(ledger.book(stop("two")));
  const ClusterSnapshot gone = a_cluster().build();
  EXPECT_FALSE(is_barred(a_cluster().with(a_job("asker").gpus(4)).build()));
  EXPECT_TRUE(is_barred(gone));
  EXPECT_EQ(lost_gpu_s(ledger, gone), 400) << "both count twice";
  clock.advance(61);
  EXPECT_FALSE(is_barred(gone));
}

TEST_F(StopLedgerTest, WhoWasStoppedForNobodyBarsNobody) {
  ASSERT_TRUE(ledger.book(stop("victim")));
  ledger.take_back(stop("victim"));
  EXPECT_FALSE(is_barred(a_cluster().build()));
  EXPECT_EQ(lost_gpu_s(ledger, a_cluster().build()), 0);
  store.refusal = ErrorCode::kUnavailable;
  EXPECT_FALSE(ledger.book(stop("victim")));
  EXPECT_FALSE(is_barred(a_cluster().build()));
  EXPECT_EQ(metrics.expose().find("slackline_stops_in_vain_total 1"), std::string::npos);
}

TEST_F(StopLedgerTest, AReleaseThatFailsIsNobodysFault) {
  ASSERT_TRUE(ledger.book(stop("victim")));
  const ClusterSnapshot waits = a_cluster().with(a_job("asker").gpus(4).waiting()).build();
  const ClusterSnapshot planned = a_cluster().with(a_job("asker").gpus(4)).build();
  EXPECT_TRUE(ledger.read(waits, planned, {}, 60).barred_until_s.empty());
  EXPECT_FALSE(is_barred(waits)) << "its write met another one, and is decided again";
}

TEST_F(StopLedgerTest, WhoSuspendsItsTaskAtOnceIsBarredToo) {
  ASSERT_TRUE(ledger.book(stop("victim")));
  EXPECT_FALSE(is_barred(a_cluster().with(a_job("asker").gpus(4)).build()));
  EXPECT_TRUE(is_barred(a_cluster().with(a_job("asker").gpus(4).suspended()).build()));
}

TEST_F(StopLedgerTest, ATaskThatRunsOrEndsIsServed) {
  const auto runs = a_cluster()
                        .with(test::a_node("n1"))
                        .with(a_job("asker").gpus(4))
                        .with(test::a_pod("asker-0").of_job("asker").gpus(4).on("n1"))
                        .build();
  ASSERT_TRUE(ledger.book(stop("victim")));
  EXPECT_FALSE(is_barred(runs));
  clock.advance(61);
  EXPECT_FALSE(is_barred(runs));
  EXPECT_FALSE(is_barred(a_cluster().build())) << "it ran for as long as it is expected to";

  ASSERT_TRUE(ledger.book(stop("victim", 2)));
  EXPECT_FALSE(is_barred(runs));
  ledger.on_job(a_job("asker").gpus(4).finished().build());
  EXPECT_FALSE(is_barred(a_cluster().build())) << "it was short";

  ASSERT_TRUE(ledger.book(stop("victim", 3)));
  EXPECT_FALSE(is_barred(runs));
  auto again = a_job("asker").gpus(4).waiting().stopped(1, clock.wall_s() + 1);
  EXPECT_FALSE(is_barred(a_cluster().with(again).build())) << "it was stopped for another";
}

}  // namespace
}  // namespace slackline::control

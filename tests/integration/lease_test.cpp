// The election: two replicas and one Lease on an API server that refuses, hangs and goes away (F27,
// F28, F29). Times are a tenth of the real ones, and longer on a busy machine.
#include "cluster/lease/lease.h"

#include <atomic>
#include <cmath>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "cluster/api/kubeconfig.h"
#include "cluster/api/removal.h"
#include "cluster/lease/lease_watch.h"
#include "slackline/base/duration.h"
#include "slackline/base/text.h"
#include "support/eventually.h"
#include "support/fake_api_server.h"
#include "support/temporary_folder.h"
#include "wire/format/json_view.h"

namespace slackline::cluster {
namespace {

using test::eventually;
using test::FakeApiServer;
using test::FakeConnection;
using test::FakeRequest;
using test::patient;

const std::string kList = "/apis/coordination.k8s.io/v1/namespaces/slackline-system/leases";
const std::string kItem = kList + "/slackline";

// A machine whose wall clock anybody may set; its steady clock is the real one.
class SkewedClock final : public Clock {
 public:
  double wall_s() const override { return system_clock().wall_s() + skew_s; }
  double steady_s() const override { return system_clock().steady_s(); }
  std::atomic<double> skew_s = 0;
};

constexpr double kTenYears_s = 3.156e8;
constexpr double kSkews_s[] = {0, kHour_s, -kHour_s, kTenYears_s, -kTenYears_s};

class LeaseTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto put = [this](const FakeRequest& asked, FakeConnection& reply) {
      store(asked, reply);
    };
    server_.always("POST " + kList, put);
    server_.always("PUT " + kItem, put);
    server_.always("GET " + kItem, [this](const FakeRequest&, FakeConnection& reply) {
      MutexLock lock(mutex_);
      if (lease_.empty()) return reply.reply_status(404, "NotFound", "no such lease");
      reply.reply(200, lease_);
    });
  }

  // The API server: a write of another version than the present one is a conflict.
  void store(const FakeRequest& asked, FakeConnection& reply) {
    wire::JsonDocument document;
    const auto body = document.parse(asked.body);
    MutexLock lock(mutex_);
    const std::string_view version = (*body)["metadata"]["resourceVersion"].text();
    if (version != (version_ == 0 ? "" : std::to_string(version_)))
      return reply.reply_status(409, "Conflict", "the object has been modified");
    holders_.insert(std::string((*body)["spec"]["holderIdentity"].text()));
    terms_.push_back((*body)["spec"]["leaseTransitions"].integer().value_or(-1));
    lease_ = format(R"({{"metadata":{{"resourceVersion":"{}"}},"spec":{{"holderIdentity":"{}",)"
                    R"("leaseDurationSeconds":{},"leaseTransitions":{},"renewTime":"{}"}}}})",
                    ++version_, (*body)["spec"]["holderIdentity"].text(),
                    (*body)["spec"]["leaseDurationSeconds"].integer().value_or(1), terms_.back(),
                    (*body)["spec"]["renewTime"].text());
    reply.reply(200, lease_);
  }

  // Every replica has a client of its own. Only the thread of the test may call this.
  ApiClient& api() {
    clients_.push_back(
        connect({.kubeconfig = server_.write_kubeconfig(temporary_.path())}).value());
    return *clients_.back();
  }

  std::unique_ptr<LeaderElection> candidate(const std::string& identity,
                                            const Clock& clock = system_clock()) {
    LeaseOptions options;
    options.identity = identity;
    options.duration_s = duration_s_;
    options.renew_within_s = 0.6 * duration_s_;
    options.retry_s = 0.1;
    return std::make_unique<LeaderElection>(api(), options, [] {}, clock);
  }

  std::unique_ptr<LeaderElection> replica(const std::string& identity,
                                          const Clock& clock = system_clock()) {
    auto election = candidate(identity, clock);
    election->start();
    return election;
  }

  std::vector<std::int64_t> terms() {
    MutexLock lock(mutex_);
    return terms_;
  }

  // Whole seconds, as the API has them. A replica that gets no processor for a part of it loses the
  // Lease rightly, which none of these tests is about.
  const double duration_s_ = std::ceil(patient(1.0));
  const test::TemporaryFolder temporary_;
  Mutex mutex_;
  std::string lease_ SLACKLINE_GUARDED_BY(mutex_);
  int version_ SLACKLINE_GUARDED_BY(mutex_) = 0;
  std::set<std::string> holders_ SLACKLINE_GUARDED_BY(mutex_);
  std::vector<std::int64_t> terms_ SLACKLINE_GUARDED_BY(mutex_);
  FakeApiServer server_;
  std::vector<std::unique_ptr<ApiClient>> clients_;
};

TEST_F(LeaseTest, OfTwoReplicasOneLeadsAndTheOtherFollowsWhenItStops) {
  auto a = replica("a");
  ASSERT_TRUE(eventually([&] { return a->term() == 1; }));
  auto b = replica("b");
  for (int i = 0; i < 30; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_TRUE(a->term());
    ASSERT_FALSE(b->term());
  }
  a->stop();
  a->join();
  EXPECT_TRUE(eventually([&] { return b->term() == 2; }, 0.8 * duration_s_))
      << "a freed Lease is taken at once";
}

TEST_F(LeaseTest, ADeadLeaderIsFollowedOnceItsLeaseHasExpired) {
  {
    MutexLock lock(mutex_);
    version_ = 7;
    lease_ =
        R"({"metadata":{"resourceVersion":"7"},"spec":{"holderIdentity":"dead",)"
        R"("leaseDurationSeconds":1,"leaseTransitions":4,"renewTime":"2099-01-01T00:00:00.000000Z"}})";
  }
  const double began_s = system_clock().steady_s();
  auto b = replica("b");
  ASSERT_TRUE(eventually([&] { return b->term() == 5; }));
  EXPECT_GE(system_clock().steady_s() - began_s, duration_s_);
}

TEST_F(LeaseTest, ARestartedReplicaOfTheSameNameStartsAnotherTerm) {
  auto first = replica("a");
  ASSERT_TRUE(eventually([&] { return first->term() == 1; }));
  server_.always("PUT " + kItem, [](const FakeRequest&, FakeConnection& reply) { reply.close(); });
  first.reset();  // dies: it cannot free the Lease
  server_.always("PUT " + kItem,
                 [this](const FakeRequest& asked, FakeConnection& reply) { store(asked, reply); });
  auto second = replica("a");
  EXPECT_TRUE(eventually([&] { return second->term() == 2; }));
}

TEST_F(LeaseTest, ALeaderThatCannotRenewStopsLeadingBeforeOthersMayLead) {
  auto a = replica("a");
  ASSERT_TRUE(eventually([&] { return a->term().has_value(); }));
  server_.always("GET " + kItem, [](const FakeRequest&, FakeConnection& reply) { reply.hang(); });
  const double cut_s = system_clock().steady_s();
  double led_s = cut_s;
  ASSERT_TRUE(eventually([&] {
    const double now_s = system_clock().steady_s();
    if (a->term()) led_s = now_s;
    return led_s != now_s;
  }));
  EXPECT_LT(led_s - cut_s, 0.9 * duration_s_);
  server_.break_connections();
}

TEST_F(LeaseTest, TakersThatRaceGetOneWinner) {
  std::vector<std::unique_ptr<LeaderElection>> replicas;
  for (int i = 0; i < 6; ++i)
    replicas.push_back(replica(format("r{}", i)));
  const auto leading = [&] {
    return std::count_if(replicas.begin(), replicas.end(),
                         [](const auto& each) { return each->term().has_value(); });
  };
  ASSERT_TRUE(eventually([&] { return leading() == 1; }));
  for (int i = 0; i < 10; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_LE(leading(), 1);
  }
}

// F29: two replicas set their clocks as they like, and nothing happens.
TEST_F(LeaseTest, WallClocksThatJumpChangeNoLeader) {
  SkewedClock clocks[2];
  auto a = replica("a", clocks[0]);
  ASSERT_TRUE(eventually([&] { return a->term() == 1; }));
  auto b = replica("b", clocks[1]);
  for (const double of_a_s : kSkews_s)
    for (const double of_b_s : kSkews_s) {
      clocks[0].skew_s = of_a_s;
      clocks[1].skew_s = of_b_s;
      for (int i = 0; i < 5; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        ASSERT_TRUE(a->term()) << of_a_s << " " << of_b_s;
        ASSERT_FALSE(b->term()) << of_a_s << " " << of_b_s;
      }
    }
  const auto all = terms();
  EXPECT_EQ(std::count(all.begin(), all.end(), 1), static_cast<std::ptrdiff_t>(all.size()));
}

TEST_F(LeaseTest, WallClocksThatJumpNeitherHastenNorDelayATakeover) {
  for (const double skew_s : kSkews_s) {
    {
      MutexLock lock(mutex_);
      version_ += 7;
      lease_ = format(
          R"({{"metadata":{{"resourceVersion":"{}"}},"spec":{{"holderIdentity":"dead",)"
          R"("leaseDurationSeconds":1,"leaseTransitions":4,"renewTime":"2026-11-22T22:00:00.000000Z"}}}})",
          version_);
    }
    SkewedClock clock;
    clock.skew_s = skew_s;
    const double began_s = system_clock().steady_s();
    auto b = replica("b", clock);
    ASSERT_TRUE(eventually([&] { return b->term() == 5; }));
    EXPECT_GE(system_clock().steady_s() - began_s, duration_s_) << skew_s;
    EXPECT_LT(system_clock().steady_s() - began_s, duration_s_ + patient(2.0)) << skew_s;
  }
}

// What gives tasks back looks on: a Lease that is renewed is never old, a dead one is after its
// duration, and no clock has a say in either.
TEST_F(LeaseTest, ALeaseThatIsRenewedIsNeverLostWhateverTheClocksSay) {
  SkewedClock clocks[2];
  auto leader = replica("a", clocks[0]);
  ASSERT_TRUE(eventually([&] { return leader->term() == 1; }));
  LeaseWatch watch(api(), {"slackline-system", "slackline"}, 1.0, clocks[1]);
  for (const double of_leader_s : kSkews_s)
    for (const double of_watch_s : kSkews_s) {
      clocks[0].skew_s = of_leader_s;
      clocks[1].skew_s = of_watch_s;
      for (int i = 0; i < 3; ++i) {
        const auto sight = watch.look();
        ASSERT_TRUE(sight);
        ASSERT_LT(sight->unchanged_s, 0.6 * duration_s_) << of_leader_s << " " << of_watch_s;
        ASSERT_FALSE(sight->lost());
        std::this_thread::sleep_for(std::chrono::milliseconds(40));
      }
    }
}

TEST_F(LeaseTest, ADeadLeadersLeaseIsLostOnceItWasSeenUnchangedForItsDuration) {
  for (const double skew_s : kSkews_s) {
    SkewedClock clock;
    clock.skew_s = skew_s;
    {
      MutexLock lock(mutex_);
      lease_ = format(R"({{"metadata":{{"resourceVersion":"{}"}},"spec":{{"holderIdentity":"dead",)"
                      R"("leaseDurationSeconds":1,"renewTime":"garbage"}}}})",
                      ++version_);
    }
    LeaseWatch watch(api(), {"slackline-system", "slackline"}, 0.5, clock);
    const double began_s = system_clock().steady_s();
    ASSERT_FALSE(watch.look()->lost()) << "one look tells nothing";
    ASSERT_TRUE(eventually([&] { return watch.look()->lost(); }, 3)) << skew_s;
    EXPECT_GE(system_clock().steady_s() - began_s, 1.0);
    EXPECT_LT(system_clock().steady_s() - began_s, patient(2.5));
  }
}

// An uninstallation that was given up: it holds the Lease for an hour, and nobody plans.
TEST_F(LeaseTest, ALeaseThatAnUninstallationHoldsIsLostAsSoonAsAnother) {
  {
    MutexLock lock(mutex_);
    version_ = 7;
    lease_ = format(R"({{"metadata":{{"resourceVersion":"7"}},"spec":{{"holderIdentity":"{}",)"
                    R"("leaseDurationSeconds":3600}}}})",
                    Removal::kHolder);
  }
  LeaseWatch watch(api(), {"slackline-system", "slackline"}, 0.2);
  EXPECT_EQ(watch.look()->duration_s, 0.2);
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  EXPECT_TRUE(watch.look()->lost());
  {
    MutexLock lock(mutex_);
    lease_ = R"({"metadata":{"resourceVersion":"8"},"spec":{"holderIdentity":"slackline-0",)"
             R"("leaseDurationSeconds":3600}})";
  }
  EXPECT_EQ(watch.look()->duration_s, 3600);
}

// While nobody can renew because the API server is away, nobody is dead.
TEST_F(LeaseTest, WhatCouldNotBeSeenIsNotCounted) {
  {
    MutexLock lock(mutex_);
    version_ = 7;
    lease_ =
        R"({"metadata":{"resourceVersion":"7"},"spec":{"holderIdentity":"a","leaseDurationSeconds":1}})";
  }
  LeaseWatch watch(api(), {"slackline-system", "slackline"}, 0.2);
  ASSERT_TRUE(watch.look());
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  server_.next("GET " + kItem, [](const FakeRequest&, FakeConnection& reply) {
    reply.reply_status(503, "ServiceUnavailable", "etcd has no leader");
  });
  ASSERT_FALSE(watch.look());
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  const auto sight = watch.look();
  ASSERT_TRUE(sight);
  EXPECT_EQ(sight->unchanged_s, 0);
}

TEST_F(LeaseTest, NoLeaseIsARecordLikeAnyOther) {
  LeaseWatch watch(api(), {"slackline-system", "slackline"}, 0.2);
  ASSERT_FALSE(watch.look()->exists);
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  EXPECT_TRUE(watch.look()->lost());
  auto leader = replica("a");
  ASSERT_TRUE(eventually([&] { return leader->term() == 1; }));
  const auto sight = watch.look();
  EXPECT_TRUE(sight->changed);
  EXPECT_TRUE(sight->exists);
  EXPECT_FALSE(sight->lost());
}

// F27: two writers that take and free one Lease as fast as they can. Everything that a writer
// believes to have written stands in the server's book, once.
TEST_F(LeaseTest, TwoWritersLoseNoUpdateInTenThousandRounds) {
  constexpr std::int64_t kTakings = 10'000;
  std::atomic<std::int64_t> takings = 0;
  std::vector<std::int64_t> taken[2];
  std::unique_ptr<LeaderElection> writers[] = {candidate("w0"), candidate("w1")};
  std::thread threads[2];
  for (std::size_t i = 0; i < 2; ++i)
    threads[i] = std::thread([&, i, writer = writers[i].get()] {
      while (takings < kTakings) {
        writer->look();
        if (const auto term = writer->term()) {
          taken[i].push_back(*term);
          ++takings;
        }
        writer->step_down();
      }
    });
  for (std::thread& thread : threads)
    thread.join();
  std::vector<std::int64_t> believed = taken[0];
  believed.insert(believed.end(), taken[1].begin(), taken[1].end());
  std::sort(believed.begin(), believed.end());
  ASSERT_GE(believed.size(), static_cast<std::size_t>(kTakings));
  for (std::size_t i = 0; i < believed.size(); ++i)
    ASSERT_EQ(believed[i], static_cast<std::int64_t>(i) + 1) << "each term has one holder";
  EXPECT_FALSE(taken[0].empty());
  EXPECT_FALSE(taken[1].empty());
  MutexLock lock(mutex_);
  EXPECT_EQ(version_, 2 * static_cast<int>(believed.size())) << "a taking and a freeing each";
}

}  // namespace
}  // namespace slackline::cluster

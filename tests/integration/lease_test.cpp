// Who plans: two replicas and one Lease on an API server that refuses, hangs and goes away (F27,
// F28, F29). Times are a tenth of the real ones.
#include "cluster/lease.h"

#include <set>

#include <gtest/gtest.h>

#include "cluster/kubeconfig.h"
#include "slackline/base/text.h"
#include "support/fake_api_server.h"
#include "support/temporary_folder.h"
#include "wire/json_view.h"

namespace slackline::cluster {
namespace {

using test::FakeApiServer;
using test::FakeConnection;
using test::FakeRequest;

const std::string kList = "/apis/coordination.k8s.io/v1/namespaces/slackline-system/leases";
const std::string kItem = kList + "/slackline";

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
                    R"("leaseDurationSeconds":1,"leaseTransitions":{}}}}})",
                    ++version_, (*body)["spec"]["holderIdentity"].text(), terms_.back());
    reply.reply(200, lease_);
  }

  std::unique_ptr<LeaderElection> replica(const std::string& identity) {
    const auto endpoint =
        find_endpoint({.kubeconfig = server_.write_kubeconfig(temporary_.path())});
    LeaseOptions options;
    options.identity = identity;
    options.duration_s = 1.0;
    options.renew_within_s = 0.6;
    options.retry_s = 0.1;
    auto election = std::make_unique<LeaderElection>(*endpoint, options, [] {});
    election->start();
    return election;
  }

  static bool wait_until(const std::function<bool()>& condition, double timeout_s = 5) {
    const double until_s = system_clock().steady_s() + timeout_s;
    while (!condition() && system_clock().steady_s() < until_s)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return condition();
  }

  const test::TemporaryFolder temporary_;
  Mutex mutex_;
  std::string lease_ SLACKLINE_GUARDED_BY(mutex_);
  int version_ SLACKLINE_GUARDED_BY(mutex_) = 0;
  std::set<std::string> holders_ SLACKLINE_GUARDED_BY(mutex_);
  std::vector<std::int64_t> terms_ SLACKLINE_GUARDED_BY(mutex_);
  FakeApiServer server_;
};

TEST_F(LeaseTest, OfTwoReplicasOneLeadsAndTheOtherFollowsWhenItStops) {
  auto a = replica("a");
  ASSERT_TRUE(wait_until([&] { return a->term() == 1; }));
  auto b = replica("b");
  for (int i = 0; i < 30; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    ASSERT_TRUE(a->term());
    ASSERT_FALSE(b->term());
  }
  a->stop();
  a->join();
  EXPECT_TRUE(wait_until([&] { return b->term() == 2; }, 0.8)) << "a freed Lease is taken at once";
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
  ASSERT_TRUE(wait_until([&] { return b->term() == 5; }));
  EXPECT_GE(system_clock().steady_s() - began_s, 1.0);
}

TEST_F(LeaseTest, ARestartedReplicaOfTheSameNameStartsAnotherTerm) {
  auto first = replica("a");
  ASSERT_TRUE(wait_until([&] { return first->term() == 1; }));
  server_.always("PUT " + kItem, [](const FakeRequest&, FakeConnection& reply) { reply.close(); });
  first.reset();  // dies: it cannot free the Lease
  server_.always("PUT " + kItem,
                 [this](const FakeRequest& asked, FakeConnection& reply) { store(asked, reply); });
  auto second = replica("a");
  EXPECT_TRUE(wait_until([&] { return second->term() == 2; }));
}

TEST_F(LeaseTest, ALeaderThatCannotRenewStopsLeadingBeforeOthersMayLead) {
  auto a = replica("a");
  ASSERT_TRUE(wait_until([&] { return a->term().has_value(); }));
  server_.always("GET " + kItem, [](const FakeRequest&, FakeConnection& reply) { reply.hang(); });
  const double cut_s = system_clock().steady_s();
  ASSERT_TRUE(wait_until([&] { return !a->term(); }));
  EXPECT_LT(system_clock().steady_s() - cut_s, 0.9);
  server_.break_connections();
}

TEST_F(LeaseTest, TakersThatRaceGetOneWinner) {
  std::vector<std::unique_ptr<LeaderElection>> replicas;
  for (int i = 0; i < 6; ++i)
    replicas.push_back(replica(format("r{}", i)));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const auto leading = std::count_if(replicas.begin(), replicas.end(),
                                     [](const auto& each) { return each->term().has_value(); });
  EXPECT_EQ(leading, 1);
}

}  // namespace
}  // namespace slackline::cluster

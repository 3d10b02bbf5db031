// How much of a listener each peer may have, and which one gives way to which.
#include "http/server/peers.h"

#include <list>

#include <gtest/gtest.h>

#include "http/server/eviction.h"
#include "http/server/turnstile.h"

namespace slackline::http {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Time = std::chrono::steady_clock::time_point;

class PeersTest : public testing::Test {
 protected:
  Peers::Seat& connect(const std::string& address, int times = 1) {
    for (int i = 0; i < times; ++i)
      seats_.emplace_back(peers_, address);
    return seats_.back();
  }

  Peers peers_{100, 1000};
  std::list<Peers::Seat> seats_;
};

TEST_F(PeersTest, OnePeerMayHaveThreeQuartersAndTheRestIsForOthers) {
  connect("a", 75);
  EXPECT_FALSE(peers_.may_connect("a"));
  EXPECT_TRUE(peers_.may_connect("b"));
  connect("b", 24);
  EXPECT_TRUE(peers_.may_connect("b")) << "a quarter";
  connect("c");
  EXPECT_FALSE(peers_.may_connect("d")) << "full";
}

TEST_F(PeersTest, BytesAreSharedAlike) {
  Peers::Seat& a = connect("a");
  Peers::Seat& b = connect("b");
  EXPECT_TRUE(a.keep(750));
  EXPECT_FALSE(a.keep(751));
  EXPECT_EQ(a.bytes(), 750U);
  EXPECT_TRUE(b.keep(250));
  EXPECT_FALSE(b.keep(251));
  EXPECT_TRUE(a.keep(10));
  EXPECT_TRUE(b.keep(251));
  EXPECT_EQ(peers_.bytes(), 261U);
}

TEST_F(PeersTest, WhoHoldsNothingIsForgotten) {
  Peers::Seat& a = connect("a");
  a.keep(100);
  a.leave();
  EXPECT_EQ(peers_.connections(), 0U);
  EXPECT_EQ(peers_.find("a")->bytes, 100U) << "a handler still reads them";
  seats_.clear();
  EXPECT_EQ(peers_.find("a"), nullptr);
  EXPECT_EQ(peers_.bytes(), 0U);
}

TEST_F(PeersTest, ClosedConnectionsOfOnePeerAreGivenUpOneByOne) {
  connect("a").leave();
  connect("a").leave();
  seats_.pop_front();
  EXPECT_NE(peers_.find("a"), nullptr);
  seats_.pop_front();
  EXPECT_EQ(peers_.find("a"), nullptr);
}

TEST_F(PeersTest, ACertificateMakesItAnotherPeer) {
  Peers::Seat& a = connect("a");
  a.keep(100);
  a.identify("kube-scheduler");
  EXPECT_EQ(peers_.find("a"), nullptr);
  EXPECT_EQ(a.name(), "CN=kube-scheduler");
  EXPECT_TRUE(a.peer().known);
  EXPECT_EQ(a.peer().bytes, 100U);
  EXPECT_EQ(peers_.connections(), 1U);
}

class EvictionTest : public testing::Test {
 protected:
  void add(const Peer& peer, Stage stage, int age_s, std::size_t bytes = 0) {
    candidates_.push_back({&peer, stage, bytes, Time() + seconds(1000 - age_s)});
  }

  std::vector<Candidate> candidates_;
  Peer flooder_{.known = false, .connections = 50, .bytes = 500};
  Peer scheduler_{.known = false, .connections = 2, .bytes = 10};
  Peer certified_{.known = true, .connections = 60, .bytes = 600};
};

TEST_F(EvictionTest, TheGreediestGivesWayOldestFirst) {
  add(scheduler_, Stage::kIdle, 100);
  add(flooder_, Stage::kUnproven, 1);
  add(flooder_, Stage::kUnproven, 5);
  add(flooder_, Stage::kIdle, 50);
  EXPECT_EQ(evict_for_connection(candidates_, nullptr), 2U);
  EXPECT_EQ(evict_for_connection(candidates_, &scheduler_), 2U);
}

TEST_F(EvictionTest, AFloodReplacesOnlyItself) {
  add(scheduler_, Stage::kIdle, 100);
  add(scheduler_, Stage::kPartial, 100);
  add(scheduler_, Stage::kUnproven, 100);
  add(flooder_, Stage::kIdle, 50);
  EXPECT_EQ(evict_for_connection(candidates_, &flooder_), std::nullopt);
  add(flooder_, Stage::kUnproven, 1);
  EXPECT_EQ(evict_for_connection(candidates_, &flooder_), 4U);
}

TEST_F(EvictionTest, WhatIsInAHandlerStays) {
  add(flooder_, Stage::kUntouched, 100, 500);
  EXPECT_EQ(evict_for_connection(candidates_, nullptr), std::nullopt);
  EXPECT_EQ(evict_for_bytes(candidates_, scheduler_, 10), std::nullopt);
}

TEST_F(EvictionTest, WhoHasShownACertificateGoesLast) {
  add(certified_, Stage::kIdle, 100, 100);
  add(flooder_, Stage::kIdle, 1, 100);
  EXPECT_EQ(evict_for_connection(candidates_, nullptr), 1U);
  EXPECT_EQ(evict_for_bytes(candidates_, scheduler_, 10), 1U);
}

TEST_F(EvictionTest, ManyStrangersWithOneSilentConnectionEachGiveWayToo) {
  const Peer strangers[2] = {{.connections = 1}, {.connections = 1}};
  add(strangers[0], Stage::kUnproven, 1);
  add(strangers[1], Stage::kUnproven, 2);
  EXPECT_EQ(evict_for_connection(candidates_, nullptr), 1U);
}

// On a listener with a client CA whoever has no certificate is in the handshake: unproven.
TEST_F(EvictionTest, WhoHasShownNoCertificateGivesWayToAnyNewcomer) {
  for (std::size_t first = 0; first <= 3; ++first)
    for (std::size_t second = first == 0 ? 1 : 0; second <= 3; ++second)
      for (const Stage known : {Stage::kUntouched, Stage::kPartial, Stage::kIdle}) {
        const Peer strangers[2] = {{.connections = first}, {.connections = second}};
        candidates_.clear();
        add(certified_, known, 100);
        for (std::size_t i = 0; i < first + second; ++i)
          add(strangers[i < first ? 0 : 1], Stage::kUnproven, 1);
        for (const Peer* newcomer :
             {static_cast<const Peer*>(nullptr), &strangers[0], &strangers[1]}) {
          if (newcomer != nullptr && newcomer->connections == 0) continue;  // it is not a peer yet
          const auto victim = evict_for_connection(candidates_, newcomer);
          ASSERT_TRUE(victim) << first << " and " << second;
          EXPECT_GT(*victim, 0U) << "not the one with a certificate";
        }
      }
}

TEST_F(EvictionTest, BytesAreTakenFromWhoHoldsMoreThanTheOneThatAsks) {
  add(scheduler_, Stage::kPartial, 100, 10);
  add(flooder_, Stage::kPartial, 1, 100);
  add(flooder_, Stage::kPartial, 1, 400);
  EXPECT_EQ(evict_for_bytes(candidates_, scheduler_, 100), 2U);
  EXPECT_EQ(evict_for_bytes(candidates_, scheduler_, 1000), std::nullopt);
  EXPECT_EQ(evict_for_bytes(candidates_, flooder_, 1), std::nullopt);
}

TEST(Turnstile, LetsABurstPassAndThenSoManyASecond) {
  Turnstile turnstile(10);
  Time now{seconds(100)};
  for (int i = 0; i < 30; ++i)
    EXPECT_TRUE(turnstile.pass("a", now));
  EXPECT_FALSE(turnstile.pass("a", now));
  EXPECT_TRUE(turnstile.pass("b", now)) << "each for itself";
  now += milliseconds(250);
  turnstile.forget(now);
  EXPECT_TRUE(turnstile.pass("a", now));
  EXPECT_TRUE(turnstile.pass("a", now));
  EXPECT_FALSE(turnstile.pass("a", now));
}

}  // namespace
}  // namespace slackline::http

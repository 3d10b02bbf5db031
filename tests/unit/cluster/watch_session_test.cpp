#include "cluster/watch/watch_session.h"

#include <gtest/gtest.h>

#include "cluster/watch/backoff.h"
#include "cluster/watch/drift_audit.h"
#include "cluster/watch/stream_board.h"
#include "slackline/base/text.h"
#include "support/fake_clock.h"
#include "support/kube_json.h"

namespace slackline::cluster {
namespace {

using End = WatchSession::End;
using Mode = WatchSession::Mode;
using wire::KubeKind;

std::string pod_frame(const std::string& type, const std::string& name, int version) {
  std::string object = test::pod_json(name);
  object.replace(object.find("@RV@"), 4, std::to_string(version));
  return format(R"({{"type":"{}","object":{}}})", type, object);
}

std::string bookmark(int version, bool end_mark = false) {
  return format(R"({{"type":"BOOKMARK","object":{{"metadata":{{"resourceVersion":"{}"{}}}}}}})",
                version, end_mark ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "");
}

class WatchSessionTest : public testing::Test {
 protected:
  WatchSession session(Mode mode, const std::string& version = "") {
    return WatchSession(cache_, decoder_, KubeKind::kPod, mode, version);
  }
  test::FakeClock clock_;
  Cache cache_{clock_, nullptr};
  wire::KubeDecoder decoder_{default_gpu_catalog()};
};

TEST_F(WatchSessionTest, AStreamingListIsCompleteAtItsEndMark) {
  auto first = session(Mode::kInitialEvents);
  EXPECT_TRUE(first.on_line(pod_frame("ADDED", "gone", 5)));
  EXPECT_TRUE(first.on_line(bookmark(10, true)));
  EXPECT_TRUE(first.listed());
  EXPECT_EQ(first.resource_version(), "10");

  auto second = session(Mode::kInitialEvents);
  EXPECT_TRUE(second.on_line(pod_frame("ADDED", "late", 19)));
  EXPECT_TRUE(second.on_line(pod_frame("ADDED", "early", 3)));  // any order
  EXPECT_EQ(cache_.count(KubeKind::kPod), 3u);
  EXPECT_FALSE(second.listed());
  EXPECT_TRUE(second.on_line(bookmark(20, true)));
  EXPECT_EQ(cache_.count(KubeKind::kPod), 2u);
}

TEST_F(WatchSessionTest, TheVersionMovesOnValidFramesOnly) {
  auto watch = session(Mode::kWatch, "10");
  EXPECT_TRUE(watch.on_line(pod_frame("ADDED", "a", 11)));
  EXPECT_TRUE(watch.on_line(bookmark(15)));
  EXPECT_TRUE(watch.on_line(R"({"type":"BOOKMARK","object":{}})"));
  EXPECT_TRUE(watch.on_line(R"({"type":"RUMOUR","object":{"metadata":{"resourceVersion":"99"}}})"));
  EXPECT_EQ(watch.resource_version(), "15");
  EXPECT_FALSE(watch.on_line(R"({"type":"ADDED","object":{"metadata":)"));
  EXPECT_EQ(watch.end(), End::kBadFrame);
  EXPECT_EQ(watch.resource_version(), "15");
}

TEST_F(WatchSessionTest, ARepeatedFrameChangesNothing) {
  auto watch = session(Mode::kWatch, "10");
  EXPECT_TRUE(watch.on_line(pod_frame("ADDED", "a", 11)));
  EXPECT_TRUE(watch.on_line(pod_frame("ADDED", "a", 11)));
  EXPECT_TRUE(watch.on_line(pod_frame("DELETED", "a", 12)));
  EXPECT_TRUE(watch.on_line(pod_frame("DELETED", "a", 12)));
  EXPECT_EQ(cache_.count(KubeKind::kPod), 0u);
}

TEST_F(WatchSessionTest, AnOlderVersionEndsTheSessionBeforeItDoesHarm) {
  auto watch = session(Mode::kWatch, "10");
  EXPECT_TRUE(watch.on_line(pod_frame("DELETED", "a", 12)));
  EXPECT_FALSE(watch.on_line(pod_frame("ADDED", "a", 11)));
  EXPECT_EQ(watch.end(), End::kVersionRegressed);
  EXPECT_EQ(cache_.count(KubeKind::kPod), 0u);
}

TEST_F(WatchSessionTest, AnErrorFrameTellsItsStatus) {
  auto watch = session(Mode::kWatch, "10");
  EXPECT_FALSE(watch.on_line(
      R"({"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"old"}})"));
  EXPECT_EQ(watch.end(), End::kError);
  EXPECT_TRUE(watch.failure().expired());
}

TEST_F(WatchSessionTest, AnOrdinaryBookmarkBeforeTheEndMarkMeansNoStreamingList) {
  auto watch = session(Mode::kInitialEvents);
  EXPECT_FALSE(watch.on_line(bookmark(10)));
  EXPECT_EQ(watch.end(), End::kNotStreaming);
}

TEST(Backoff, DoublesWithJitterUpToItsLimitAndForgetsAfterAHealthyTime) {
  const WatchTimers timers;
  Backoff backoff(timers, 1);
  double expected_s = timers.backoff_min_s;
  for (int i = 0; i < 10; ++i) {
    const double wait_s = backoff.next_s(0, false);
    EXPECT_GE(wait_s, expected_s);
    EXPECT_LT(wait_s, 2 * expected_s);
    expected_s = std::min(2 * expected_s, timers.backoff_max_s);
  }
  EXPECT_EQ(backoff.next_s(timers.healthy_reset_s, false), 0);
  EXPECT_LT(backoff.next_s(0, false), 2 * timers.backoff_min_s);
}

TEST(Backoff, OnlyTheFirstUrgentTryIsFree) {
  Backoff backoff(WatchTimers{}, 1);
  EXPECT_EQ(backoff.next_s(0, true), 0);
  EXPECT_GT(backoff.next_s(0, true), 0);
}

TEST(StreamBoard, TheSlowestRequiredStreamDecides) {
  test::FakeClock clock;
  StreamBoard board(clock, 60);
  clock.advance(50);
  board.alive(KubeKind::kNode);
  board.alive(KubeKind::kNamespace);
  board.alive(KubeKind::kJob);
  clock.advance(20);
  const CacheHealth stale = board.health(true);
  EXPECT_EQ(stale.age_s, 70);
  EXPECT_TRUE(stale.stale);
  EXPECT_EQ(stale.detail, "pods: watch silent for 70s");
  board.alive(KubeKind::kPod);
  EXPECT_TRUE(board.health(true).trusted());
}

TEST(StreamBoard, TroubleIsNewsOnceAndEndsWithTheNextSignOfLife) {
  test::FakeClock clock;
  StreamBoard board(clock, 60);
  EXPECT_TRUE(board.trouble(KubeKind::kJob, "forbidden", "no"));
  EXPECT_FALSE(board.trouble(KubeKind::kJob, "forbidden", "no"));
  EXPECT_EQ(board.health(false).detail, "jobs: no");
  EXPECT_TRUE(board.trouble(KubeKind::kJob, "unreachable", "refused"));
  board.alive(KubeKind::kJob);
  EXPECT_EQ(board.health(true).detail, "");
}

TEST(DriftAudit, NamesWhatDiffersOnEitherSide) {
  const Fingerprints truth{{"same", 1}, {"changed", 2}, {"missing", 3}};
  const Fingerprints cached{{"same", 1}, {"changed", 9}, {"extra", 4}};
  EXPECT_EQ(differences(truth, cached), (std::vector<std::string>{"changed", "extra", "missing"}));
}

}  // namespace
}  // namespace slackline::cluster

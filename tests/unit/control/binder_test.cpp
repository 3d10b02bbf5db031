// What bind refuses before anything is written, and what it takes to believe an answer.
#include "control/serve/binder.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/state/settings.h"
#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_node;
using test::a_pod;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class BinderTest : public testing::Test {
 protected:
  BinderTest() { options_.scheduler_names = {"gpu-scheduler", "second"}; }

  static test::PodBuilder ours(const std::string& name) {
    return a_pod(name).gpus(1).scheduled_by("gpu-scheduler");
  }

  static test::PodBuilder tolerant() {
    SchedulingConstraints constraints;
    constraints.tolerations = {{"team", false, "vision", std::nullopt}};
    return ours("tolerant").constrained(constraints);
  }

  BindOutcome bind(const std::string& pod, const std::string& node) {
    return bind_request({{"default", pod}, test::pod_uid(pod), NodeName(node)});
  }
  BindOutcome bind_request(const BindRequest& request) {
    return Binder(options_, source_, &writer_, shares_, clock_)
        .bind(request, clock_.steady_s() + time_s_);
  }
  // The API server takes each call and says nothing, for as long as it is waited for.
  template <class T>
  T hang(const T& then) {
    clock_.advance(writer_.timeouts_s.back());
    return then;
  }
  static PodBinding bound_to(const std::string& pod, const std::string& node) {
    return {test::pod_uid(pod), NodeName(node), false};
  }
  void expect_refused(const BindOutcome& outcome, const std::string& why) {
    EXPECT_THAT(outcome.reply.error, HasSubstr(why));
    EXPECT_EQ(outcome.counted, "refused");
    EXPECT_THAT(writer_.orders, IsEmpty());
  }

  const GpuCatalog catalog_ = default_gpu_catalog();
  BinderOptions options_{Mode::kActive, {}};
  double time_s_ = 1.6;  // for a call
  test::FakeClock clock_;
  test::FakeSource source_{a_cluster()
                               .with(a_node("free"))
                               .with(a_node("cordoned").cordoned())
                               .with(a_node("tainted").taint("team", "vision"))
                               .with(a_node("evicting").taint("gone", "", TaintEffect::kNoExecute))
                               .with(a_node("soft").taint("x", "", TaintEffect::kPreferNoSchedule))
                               .with(a_node("cpu").of("", 0))
                               .with(a_node("small").of("", 1))
                               .with(ours("mine"))
                               .with(ours("second").scheduled_by("second"))
                               .with(a_pod("theirs").gpus(1).scheduled_by("default-scheduler"))
                               .with(tolerant())
                               .with(ours("big").gpus(2))
                               .with(a_pod("plain").scheduled_by("gpu-scheduler"))
                               .build()};
  test::FakeWriter writer_;
  ShareAccount shares_{catalog_, source_, nullptr, clock_};
};

TEST_F(BinderTest, PodsOfOurSchedulersAreBound) {
  EXPECT_EQ(bind("mine", "free").counted, "bound");
  EXPECT_EQ(bind("second", "soft").counted, "bound");
  EXPECT_EQ(bind("tolerant", "tainted").counted, "bound");
  EXPECT_EQ(writer_.orders.size(), 3U);
}

TEST_F(BinderTest, PodsOfOtherSchedulersAreNot) {
  expect_refused(bind("theirs", "free"), "extender.schedulerNames");
  options_.scheduler_names.clear();
  EXPECT_EQ(bind("theirs", "free").counted, "bound") << "an empty list takes anybody's";
}

TEST_F(BinderTest, PodsOfTheSchedulerThatTheWebhookWritesAreBound) {
  Published<Settings> settings;
  Settings writes;
  writes.scheduler_name = "";
  settings.set(writes);
  options_.settings = &settings;
  expect_refused(bind("theirs", "free"), "nor webhook.schedulerName");
  writes.scheduler_name = "default-scheduler";
  settings.set(writes);
  EXPECT_EQ(bind("theirs", "free").counted, "bound") << "it may change while the daemon runs";
}

TEST_F(BinderTest, NodesThatThePodMayNotUseAreRefused) {
  expect_refused(bind("mine", "nowhere"), "not known");
  expect_refused(bind("mine", "cordoned"), "cordoned");
  expect_refused(bind("mine", "tainted"), "taint");
  expect_refused(bind("mine", "evicting"), "taint");
  expect_refused(bind("mine", "cpu"), "has no 1 x nvidia.com/gpu");
  expect_refused(bind("big", "small"), "has no 2 x nvidia.com/gpu");
}

TEST_F(BinderTest, NamesAreCheckedBeforeTheyAreUsed) {
  const Uid uid = test::pod_uid("mine");
  for (const char* bad : {"..", ".", "a/b", "x?dryRun=All", "%2e%2e", "", "A"}) {
    expect_refused(bind_request({{bad, "mine"}, uid, NodeName("free")}), "PodNamespace");
    expect_refused(bind_request({{"default", bad}, uid, NodeName("free")}), "PodName");
    expect_refused(bind_request({{"default", "mine"}, uid, NodeName(bad)}), "Node");
  }
}

TEST_F(BinderTest, AUidIsNeverTold) {
  writer_.on_read = [] {
    return Result<PodBinding>(PodBinding{Uid("secret-uid"), NodeName(""), false});
  };
  const BindOutcome guessed = bind_request({{"default", "mine"}, Uid("guess"), NodeName("free")});
  EXPECT_THAT(guessed.reply.error, HasSubstr("another pod of that name"));
  EXPECT_THAT(guessed.reply.error, Not(HasSubstr("secret-uid")));
  EXPECT_THAT(writer_.orders, IsEmpty());
  // The API server's message of a failed precondition has both uids.
  writer_.on_bind = [](const auto&) {
    return Status(fail(ErrorCode::kConflict, "UID in object meta: secret-uid"));
  };
  for (const ErrorCode read : {ErrorCode::kTimeout, ErrorCode::kNotFound}) {
    writer_.on_read = [read] { return Result<PodBinding>(fail(read, "no")); };
    EXPECT_THAT(bind("mine", "free").reply.error, Not(HasSubstr("secret-uid")));
  }
}

// kube-scheduler's watch may be ahead of this one.
TEST_F(BinderTest, APodThatTheCacheDoesNotKnowIsRead) {
  int reads = 0;
  const auto as_read = [&](const test::PodBuilder& pod) {
    writer_.on_read = [&reads, pod] {
      ++reads;
      const Pod built = pod.build();
      return Result<PodBinding>(
          PodBinding{built.uid, built.node, false, std::make_shared<const Pod>(built)});
    };
  };
  as_read(a_pod("new").gpus(1).scheduled_by("default-scheduler"));
  expect_refused(bind("new", "free"), "extender.schedulerNames");
  as_read(ours("new"));
  expect_refused(bind("new", "cordoned"), "cordoned");
  EXPECT_EQ(bind("new", "free").counted, "bound");
  EXPECT_EQ(reads, 3);
  writer_.on_read = [] { return Result<PodBinding>(fail(ErrorCode::kNotFound, "no such pod")); };
  EXPECT_THAT(bind("gone", "free").reply.error, HasSubstr("no such pod"));
}

// The cache keeps no tolerations of it.
TEST_F(BinderTest, APodWithoutGpusIsReadAndJudgedToo) {
  SchedulingConstraints constraints;
  const auto as_read = [&] {
    Pod pod = a_pod("plain").scheduled_by("gpu-scheduler").constrained(constraints).build();
    writer_.on_read = [pod] {
      return Result<PodBinding>(
          PodBinding{pod.uid, pod.node, false, std::make_shared<const Pod>(pod)});
    };
  };
  as_read();
  expect_refused(bind("plain", "cordoned"), "cordoned");
  expect_refused(bind("plain", "tainted"), "taint");
  EXPECT_EQ(bind("plain", "cpu").counted, "bound");
  constraints.tolerations = {{"team", false, "vision", std::nullopt}};
  as_read();
  EXPECT_EQ(bind("plain", "tainted").counted, "bound");
}

// What may not be believed judges nothing: kube-scheduler has.
TEST_F(BinderTest, AStaleCacheJudgesNoNode) {
  source_.be({.synced = true, .age_s = 400, .stale = true, .detail = ""});
  EXPECT_EQ(bind("mine", "cordoned").counted, "bound");
  writer_.orders.clear();
  expect_refused(bind("theirs", "free"), "extender.schedulerNames");
}

TEST_F(BinderTest, AWriteThatHangsAfterItWasTakenLeavesTimeToSeeIt) {
  writer_.on_bind = [&](const auto&) { return hang(Status(fail(ErrorCode::kTimeout, "silent"))); };
  writer_.on_read = [] { return Result<PodBinding>(bound_to("mine", "free")); };
  const double began_s = clock_.steady_s();
  const BindOutcome outcome = bind("mine", "free");
  EXPECT_EQ(outcome.counted, "already_bound") << outcome.reply.error;
  EXPECT_FALSE(outcome.late);
  EXPECT_LT(clock_.steady_s(), began_s + time_s_);
}

// Whatever the time is, and whether or not the pod has to be read first.
TEST_F(BinderTest, AnApiServerThatHangsIsLeftWhenTheTimeIsOver) {
  const auto silent = Result<PodBinding>(fail(ErrorCode::kTimeout, "silent"));
  writer_.on_bind = [&](const auto&) { return hang(Status(fail(ErrorCode::kTimeout, "silent"))); };
  for (const double time_s : {0.08, 0.8, 1.6, 8.0}) {
    time_s_ = time_s;
    const double began_s = clock_.steady_s();
    writer_.on_read = [&] { return hang(silent); };
    const BindOutcome outcome = bind("mine", "free");
    EXPECT_THAT(outcome.reply.error, HasSubstr("silent")) << time_s;
    EXPECT_TRUE(outcome.late) << time_s;
    EXPECT_NEAR(clock_.steady_s() - began_s, time_s, 0.001);
  }
  EXPECT_NEAR(writer_.timeouts_s.front(), 2.0 / 3 * 0.08, 1e-6);
  EXPECT_EQ(writer_.timeouts_s[6], kLongestBinding_s) << "a new leader counts on that";
  time_s_ = 1.6;
  const double began_s = clock_.steady_s();
  writer_.on_read = [&] {
    Pod unseen = ours("unseen").build();
    return hang(Result<PodBinding>(PodBinding{unseen.uid, NodeName(""), false,
                                              std::make_shared<const Pod>(std::move(unseen))}));
  };
  EXPECT_TRUE(bind("unseen", "free").late);
  EXPECT_NEAR(clock_.steady_s() - began_s, 1.6, 0.001);
}

TEST_F(BinderTest, NothingIsWrittenOnceTheTimeIsOver) {
  time_s_ = -0.1;
  for (const char* pod : {"mine", "unseen"}) {
    const BindOutcome outcome = bind(pod, "free");
    EXPECT_THAT(outcome.reply.error, HasSubstr("no time was left"));
    EXPECT_EQ(outcome.counted, "timeout");
    EXPECT_TRUE(outcome.late);
  }
  EXPECT_THAT(writer_.timeouts_s, IsEmpty());
}

// The time of bind without the API server, which answers at once here: 99 of 100 within 1 ms, of a
// large cluster. The best of some rounds: another program may have the core for a moment.
TEST_F(BinderTest, ItTakesLessThanAMillisecondBesideTheApiServer) {
  constexpr int kNodes = 3000;
  constexpr int kPods = 500;
  test::ClusterBuilder cluster;
  for (int i = 0; i < kNodes; ++i)
    cluster.with(a_node("n" + std::to_string(i)).of("A100", 8));
  for (int i = 0; i < kPods; ++i)
    cluster.with(ours("p" + std::to_string(i)));
  source_.show(cluster.build());
  double best_p99_us = 1e9;
  for (int round = 0; round < 5; ++round) {
    std::vector<double> took_us;
    for (int i = 0; i < kPods; ++i) {
      const std::string pod = "p" + std::to_string(i);
      const auto began = std::chrono::steady_clock::now();
      const BindOutcome outcome = bind(pod, "n" + std::to_string(i * 5));
      const std::chrono::duration<double, std::micro> took =
          std::chrono::steady_clock::now() - began;
      ASSERT_EQ(outcome.counted, "bound") << outcome.reply.error;
      took_us.push_back(took.count());
    }
    std::sort(took_us.begin(), took_us.end());
    best_p99_us = std::min(best_p99_us, took_us[took_us.size() * 99 / 100]);
  }
  std::printf("bind without the API server: p99 %.1f us\n", best_p99_us);
  EXPECT_LT(best_p99_us, 1000);
}

}  // namespace
}  // namespace slackline::control

// In which order writes are sent, and which are dropped with another.
#include "control/plan/actuator.h"

#include <gtest/gtest.h>

#include "support/cluster_builder.h"
#include "support/fake_clock.h"
#include "support/fake_cluster.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;
using test::a_pod;

class ActuatorTest : public testing::Test {
 protected:
  ActuatorTest() {
    writer_.on_write = [this](const OwnWrite& write) {
      sent_.push_back(write.target.key.name);
      if (refused_) return Result<std::string>(fail(*refused_, "no"));
      return Result<std::string>(write.is<EvictPod>() ? "" : "2001");
    };
  }

  const Job& job(const std::string& name) { return *snapshot_->find_job("default", name); }
  OwnWrite stop(const std::string& name) {
    return job_write(job(name), StopJob{.preemptions = std::make_shared<const PreemptionNote>()});
  }
  // Into the room that the stops of these make.
  OwnWrite release(const std::string& name, const std::vector<std::string>& after) {
    OwnWrite write = job_write(job(name), ReleaseJob{.plan = std::make_shared<const PlanNote>()});
    for (const std::string& stopped : after)
      write.after.push_back(job(stopped).uid);
    return write;
  }
  OwnWrite evict(const std::string& name) {
    for (const PodPtr& pod : snapshot_->node(0).pods)
      if (pod->key.name == name)
        return pod_write(*pod, EvictPod{.lost_gpu_s = 30,
                                        .asker = {"default", "c"},
                                        .controller = Uid("set"),
                                        .queue = "team"});
    return {};
  }
  bool is_released(const std::string& name) {
    return actuator_.overlaid(snapshot_).snapshot->find_job("default", name)->plan != nullptr;
  }

  SnapshotPtr snapshot_ = std::make_shared<const ClusterSnapshot>(a_cluster()
                                                                      .with(a_job("a").gpus(4))
                                                                      .with(a_job("b").gpus(4))
                                                                      .with(a_job("c").waiting())
                                                                      .with(a_node("n1"))
                                                                      .with(a_pod("web").on("n1"))
                                                                      .build());
  std::vector<std::string> sent_;
  std::optional<ErrorCode> refused_;
  test::FakeClock clock_;
  obs::MetricsRegistry metrics_;
  test::FakeWriter writer_;
  Actuator actuator_{writer_, metrics_, [] {}, clock_};
};

TEST_F(ActuatorTest, AReleaseIsSentOnceTheStopsThatMakeItsRoomAreWritten) {
  EXPECT_EQ(actuator_.perform({stop("a"), stop("b"), release("c", {"a", "b"})}), 3U);
  EXPECT_TRUE(is_released("c")) << "it is planned on from the beginning";
  EXPECT_TRUE(actuator_.send_next());
  EXPECT_TRUE(actuator_.send_next());
  EXPECT_EQ(sent_, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(actuator_.send_next());
  EXPECT_EQ(sent_.back(), "c");
  EXPECT_FALSE(actuator_.send_next());
}

TEST_F(ActuatorTest, AReleaseIsDroppedWithAStopThatFails) {
  for (const ErrorCode why : {ErrorCode::kConflict, ErrorCode::kTimeout}) {
    actuator_.forget();
    clock_.advance(60);
    actuator_.perform({stop("a"), stop("b"), release("c", {"a", "b"})});
    EXPECT_TRUE(actuator_.send_next());
    refused_ = why;
    EXPECT_TRUE(actuator_.send_next());
    refused_.reset();
    EXPECT_FALSE(actuator_.send_next());
    EXPECT_FALSE(is_released("c"));
  }
}

// A disruption budget of which the watch does not know yet.
TEST_F(ActuatorTest, APodThatIsNotEvictedIsSparedForAWhile) {
  refused_ = ErrorCode::kResourceExhausted;
  actuator_.perform({evict("web")});
  EXPECT_TRUE(actuator_.send_next());
  EXPECT_EQ(actuator_.overlaid(snapshot_).refused,
            std::unordered_set<Uid>{evict("web").target.uid});
  clock_.advance(1);
  EXPECT_TRUE(actuator_.overlaid(snapshot_).refused.empty());
}

// Nobody knows whether it has happened: two budgets for one pod are a 500, too.
TEST_F(ActuatorTest, F25AnEvictionThatFailsReleasesNobodyIntoItsRoom) {
  refused_ = ErrorCode::kUnavailable;
  const OwnWrite evicted = evict("web");
  OwnWrite into_its_room = release("c", {});
  into_its_room.after.push_back(evicted.target.uid);
  EXPECT_EQ(actuator_.perform({evicted, into_its_room}), 2U);
  EXPECT_TRUE(actuator_.send_next());
  EXPECT_FALSE(actuator_.send_next()) << "the release is dropped with it";
  EXPECT_FALSE(is_released("c"));
  EXPECT_EQ(actuator_.overlaid(snapshot_).refused, std::unordered_set<Uid>{evicted.target.uid});
  const auto is_evicted = [&] {
    return actuator_.overlaid(snapshot_).snapshot->node(0).pods.front()->deleting;
  };
  EXPECT_TRUE(is_evicted()) << "for all that is known";
  clock_.advance(11);
  EXPECT_FALSE(is_evicted());
}

TEST_F(ActuatorTest, AnEvictionIsLaidOverUntilItIsSeen) {
  actuator_.perform({evict("web")});
  const auto is_evicted = [&] {
    return actuator_.overlaid(snapshot_).snapshot->node(0).pods.front()->deleting;
  };
  EXPECT_TRUE(is_evicted());
  EXPECT_EQ(actuator_.overlaid(snapshot_).unanswered.size(), 1U);
  EXPECT_TRUE(actuator_.send_next());
  EXPECT_TRUE(actuator_.overlaid(snapshot_).unanswered.empty());
  EXPECT_TRUE(is_evicted());
  clock_.advance(20);
  EXPECT_FALSE(is_evicted()) << "the watch shows nothing of it";
}

TEST_F(ActuatorTest, AReleaseIsLeftOutWithAStopThatIsNotTaken) {
  actuator_.perform({stop("a")});
  EXPECT_EQ(actuator_.perform({stop("a"), release("c", {"a"})}), 0U);
  EXPECT_TRUE(actuator_.send_next());
  EXPECT_FALSE(actuator_.send_next());
}

// Another object's webhook, say, refuses to let it change.
TEST_F(ActuatorTest, AJobThatIsNotStoppedIsSparedForAWhile) {
  refused_ = ErrorCode::kForbidden;
  actuator_.perform({stop("a")});
  EXPECT_TRUE(actuator_.send_next());
  const auto spared = [&] { return actuator_.overlaid(snapshot_).refused; };
  EXPECT_EQ(spared(), std::unordered_set<Uid>{job("a").uid});
  clock_.advance(1);
  EXPECT_TRUE(spared().empty());
  refused_ = ErrorCode::kConflict;
  actuator_.perform({stop("b")});
  EXPECT_TRUE(actuator_.send_next());
  EXPECT_TRUE(spared().empty()) << "it is decided on again as it is now";
}

TEST_F(ActuatorTest, NobodyIsStoppedBesideAStopThatIsLeftOut) {
  refused_ = ErrorCode::kConflict;
  actuator_.perform({stop("b")});
  EXPECT_TRUE(actuator_.send_next());
  refused_.reset();
  EXPECT_EQ(actuator_.perform({stop("a"), stop("b"), release("c", {"a", "b"})}), 0U);
  EXPECT_FALSE(actuator_.send_next());
  clock_.advance(1);
  EXPECT_EQ(actuator_.perform({stop("a"), stop("b"), release("c", {"a", "b"})}), 3U);
}

// It would start nothing: by a policy of the cluster, say, that came after the Job.
TEST_F(ActuatorTest, NobodyIsStoppedForWhoseReleaseIsRefused) {
  const auto refuse = [&] {
    refused_ = ErrorCode::kForbidden;
    actuator_.perform({release("c", {})});
    EXPECT_TRUE(actuator_.send_next());
    refused_.reset();
  };
  const auto marked = [&] { return actuator_.overlaid(snapshot_).unreleased.at(job("c").uid); };
  refuse();
  EXPECT_EQ(actuator_.perform({stop("a"), release("c", {"a"})}), 0U);
  EXPECT_EQ(marked().times, 0) << "the API server may have begun a moment ago";
  clock_.advance(11);
  refuse();
  EXPECT_NEAR(marked().until_s - clock_.steady_s(), 30, 1e-6);
  EXPECT_NEAR(marked().stops_from_s - clock_.steady_s(), 600, 1e-6);
  clock_.advance(3000);  // there was no room
  refuse();
  EXPECT_NEAR(marked().until_s - clock_.steady_s(), 60, 1e-6);
  EXPECT_NEAR(marked().stops_from_s - clock_.steady_s(), 1200, 1e-6);
  refused_ = ErrorCode::kConflict;
  clock_.advance(61);
  actuator_.perform({release("c", {})});
  EXPECT_TRUE(actuator_.send_next());
  EXPECT_EQ(marked().times, 2) << "that says nothing of it";
  refused_.reset();
  clock_.advance(1);
  actuator_.perform({release("c", {})});
  EXPECT_TRUE(actuator_.send_next());
  EXPECT_TRUE(actuator_.overlaid(snapshot_).unreleased.empty());
}

TEST_F(ActuatorTest, ARefusedReleaseIsForgottenWithItsJob) {
  refused_ = ErrorCode::kForbidden;
  actuator_.perform({release("c", {})});
  EXPECT_TRUE(actuator_.send_next());
  EXPECT_FALSE(actuator_.overlaid(snapshot_).unreleased.empty());
  const auto without = std::make_shared<const ClusterSnapshot>(a_cluster().build());
  EXPECT_TRUE(actuator_.overlaid(without).unreleased.empty());
  EXPECT_TRUE(actuator_.overlaid(snapshot_).unreleased.empty());
}

TEST_F(ActuatorTest, TheAnswerToWhatWasForgottenIsNobodys) {
  actuator_.perform({stop("a")});
  writer_.on_write = [&](const OwnWrite&) {
    actuator_.forget();
    actuator_.perform({release("c", {})});
    return Result<std::string>(fail(ErrorCode::kConflict, "no"));
  };
  EXPECT_TRUE(actuator_.send_next());
  EXPECT_TRUE(is_released("c")) << "it is under way";
}

TEST_F(ActuatorTest, WithTheTermWhatWaitsForAStopIsForgotten) {
  actuator_.perform({stop("a"), release("c", {"a"})});
  actuator_.forget();
  EXPECT_FALSE(actuator_.send_next());
  EXPECT_FALSE(is_released("c"));
}

}  // namespace
}  // namespace slackline::control

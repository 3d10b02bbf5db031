// The thread that plans: only with the Lease, on own writes first, and never in a hot loop.
#include "control/plan/planner_loop.h"

#include <atomic>
#include <cstdio>

#include <gtest/gtest.h>

#include "support/cluster_builder.h"
#include "support/fake_cluster.h"
#include "support/planning_fixture.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;

// As somebody sets it: steady time goes on.
class SettableClock final : public Clock {
 public:
  double wall_s() const override { return system_clock().wall_s() + jump_s_; }
  double steady_s() const override { return system_clock().steady_s() + passed_s_; }
  void jump(double seconds) { jump_s_ = jump_s_ + seconds; }
  void pass(double seconds) { passed_s_ = passed_s_ + seconds; }

 private:
  std::atomic<double> jump_s_{0};
  std::atomic<double> passed_s_{0};
};

class PlannerLoopTest : public test::PlanningFixture {
 protected:
  void SetUp() override {
    writer_.on_write = [this](const OwnWrite& write) {
      MutexLock lock(mutex_);
      written_.push_back(write);
      if (refused_) return Result<std::string>(fail(*refused_, "no"));
      return Result<std::string>(std::to_string(2000 + written_.size()));
    };
    actuator_ = std::make_unique<Actuator>(writer_, metrics_, [this] { loop_->wake(); }, clock_);
    options_.server_minor = [this]() -> std::optional<int> {
      const int minor = server_minor_;
      return minor > 0 ? std::optional(minor) : std::nullopt;
    };
    loop_ = std::make_unique<PlannerLoop>(
        options_, known_, source_, *actuator_,
        [this]() -> std::optional<std::int64_t> {
          const std::int64_t term = term_;
          return term > 0 ? std::optional(term) : std::nullopt;
        },
        metrics_, clock_);
    actuator_->start();
    loop_->start();
  }
  void TearDown() override {
    loop_->stop();
    loop_->join();
    actuator_->stop();
    actuator_->join();
  }

  std::size_t writes() {
    MutexLock lock(mutex_);
    return written_.size();
  }
  OwnWrite write(std::size_t index) {
    MutexLock lock(mutex_);
    return written_.at(index);
  }
  bool wait_for_writes(std::size_t count) {
    for (int i = 0; i < 400 && writes() < count; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return writes() >= count;
  }
  void refuse(std::optional<ErrorCode> code) {
    MutexLock lock(mutex_);
    refused_ = code;
  }
  static void let_it_run() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }

  static ClusterSnapshot two_jobs_one_node() {
    return a_cluster()
        .with(a_node("n1"))
        .with(a_job("a").gpus(4).waiting())
        .with(a_job("b").gpus(4).waiting())
        .build();
  }

  SettableClock clock_;
  obs::MetricsRegistry metrics_;
  test::FakeSource source_{two_jobs_one_node()};
  test::FakeWriter writer_;
  std::atomic<std::int64_t> term_{0};
  std::atomic<int> server_minor_{36};
  Mutex mutex_;
  std::optional<ErrorCode> refused_ SLACKLINE_GUARDED_BY(mutex_);
  std::vector<OwnWrite> written_ SLACKLINE_GUARDED_BY(mutex_);
  std::unique_ptr<Actuator> actuator_;
  std::unique_ptr<PlannerLoop> loop_;
};

TEST_F(PlannerLoopTest, WritesNothingWithoutTheLease) {
  for (int i = 0; i < 20; ++i)
    loop_->wake();
  let_it_run();
  EXPECT_EQ(writes(), 0U);
}

TEST_F(PlannerLoopTest, ReleasesInItsTermAndPlansOnItsOwnWrites) {
  term_ = 5;
  loop_->wake();
  ASSERT_TRUE(wait_for_writes(1));
  EXPECT_TRUE(write(0).is<ReleaseJob>());
  EXPECT_EQ(write(0).plan()->epoch, 5);
  for (int i = 0; i < 5; ++i) {  // the snapshot never shows it, yet the GPUs are not given twice
    loop_->wake();
    let_it_run();
  }
  EXPECT_EQ(writes(), 1U);
}

// On a cluster where nothing else happens, too.
TEST_F(PlannerLoopTest, AWriteThatNobodyAnsweredIsMadeAgainOnceNothingShowsIt) {
  refuse(ErrorCode::kTimeout);
  term_ = 1;
  loop_->wake();
  ASSERT_TRUE(wait_for_writes(1));
  let_it_run();
  EXPECT_EQ(writes(), 1U) << "it may have happened";
  refuse(std::nullopt);
  clock_.pass(11);
  ASSERT_TRUE(wait_for_writes(2));
  EXPECT_EQ(write(1).target.key.name, write(0).target.key.name);
}

// F29: the other Job waits for GPUs that are held; a hold is counted on the steady clock.
TEST_F(PlannerLoopTest, ClockJumpsReleaseNothingTwiceAndEndNoHold) {
  term_ = 1;
  loop_->wake();
  ASSERT_TRUE(wait_for_writes(1));
  constexpr double kOneHour_s = 3600;
  constexpr double kTenYears_s = 315'360'000;
  for (const double jump_s :
       {kOneHour_s, -2 * kOneHour_s, kOneHour_s, kTenYears_s, -2 * kTenYears_s}) {
    clock_.jump(jump_s);
    loop_->wake();
    let_it_run();
    EXPECT_EQ(writes(), 1U) << jump_s;
  }
}

TEST_F(PlannerLoopTest, WritesNothingOnACacheThatCannotBeBelieved) {
  source_.be({.synced = true, .age_s = 999, .stale = true, .detail = "silent"});
  term_ = 1;
  loop_->wake();
  let_it_run();
  EXPECT_EQ(writes(), 0U);
}

TEST_F(PlannerLoopTest, WritesNothingBeforeItKnowsWhatTheServerTakes) {
  server_minor_ = 0;
  term_ = 1;
  loop_->wake();
  let_it_run();
  EXPECT_EQ(writes(), 0U);
  server_minor_ = 35;
  loop_->wake();
  EXPECT_TRUE(wait_for_writes(1));
}

TEST_F(PlannerLoopTest, EveryWriteSaysOnWhatItWasDecided) {
  term_ = 1;
  loop_->wake();
  ASSERT_TRUE(wait_for_writes(1));
  ASSERT_NE(write(0).decision.stamp, nullptr);
  EXPECT_EQ(write(0).decision.stamp->policy, "savable,headroom=0,calm=0");
  EXPECT_EQ(write(0).decision.stamp->snapshot_version, 1U);
  EXPECT_FALSE(write(0).decision.stamp->options_hash.empty());
}

TEST_F(PlannerLoopTest, ARefusedWriteRestsBeforeItComesAgain) {
  refuse(ErrorCode::kForbidden);
  term_ = 1;
  loop_->wake();
  ASSERT_TRUE(wait_for_writes(1));
  let_it_run();
  EXPECT_LE(writes(), 6U);  // two Jobs, each at once, after 0.2 s, and hardly again
}

TEST_F(PlannerLoopTest, AShortQueueFollowsEveryChange) {
  term_ = 1;
  for (int i = 0; i < 40; ++i) {
    loop_->wake();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  const std::string told = metrics_.expose();
  const std::string count = "slackline_plan_duration_seconds_count ";
  const std::size_t at = told.find(count);
  ASSERT_NE(at, std::string::npos);
  EXPECT_GT(std::stoi(told.substr(at + count.size())), 12);  // not one in 100 ms
}

TEST_F(PlannerLoopTest, TellsHowLongTheQueueIs) {
  term_ = 1;
  loop_->wake();
  ASSERT_TRUE(wait_for_writes(1));
  let_it_run();
  EXPECT_NE(metrics_.expose().find(R"(slackline_queue_length{class="normal",queue="default"} 1)"),
            std::string::npos)
      << metrics_.expose();
}

class NewJobTest : public PlannerLoopTest {
 protected:
  void SetUp() override {
    const double now_s = clock_.wall_s();
    source_.show(a_cluster()
                     .with(a_node("n1"))
                     .with(a_job("a").gpus(4).waiting().not_halted().created(now_s))
                     .with(a_job("b").gpus(4).waiting().created(now_s))
                     .build());
    PlannerLoopTest::SetUp();
  }
};

// No event says that its controller is away.
TEST_F(NewJobTest, WhoseControllerIsAwayDoesNotKeepItsPlaceForEver) {
  term_ = 1;
  loop_->wake();
  let_it_run();
  EXPECT_EQ(writes(), 0U);
  clock_.jump(11);
  ASSERT_TRUE(wait_for_writes(1));
  EXPECT_EQ(write(0).target.key.name, "b");
}

// Jobs that all ask for something else: each is compared with every node.
class LongTurnTest : public PlannerLoopTest {
 protected:
  static ClusterSnapshot choosy_jobs() {
    test::ClusterBuilder cluster = a_cluster();
    for (int i = 0; i < 1000; ++i)
      cluster.with(a_node("n" + std::to_string(i)));
    for (int i = 0; i < 3000; ++i) {
      Job job = a_job("j" + std::to_string(i)).gpus(1).waiting().build();
      job.pod_requests.cpu_milli += i;
      cluster.add(std::move(job));
    }
    return cluster.build();
  }

  void SetUp() override {
    source_.show(choosy_jobs());
    PlannerLoopTest::SetUp();
  }
};

TEST_F(LongTurnTest, IsStoppedInside) {
  core::TaskMenus menus;
  double began_s = clock_.steady_s();
  core::make_queue(*source_.snapshot(), options_.ask(*settings_.get(), *known_.get(), clock_),
                   menus);
  const double whole_s = clock_.steady_s() - began_s;
  term_ = 1;
  loop_->wake();
  while (metrics_.expose().find("slackline_leader 1") == std::string::npos)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  began_s = clock_.steady_s();
  loop_->stop();
  loop_->join();
  const double took_s = clock_.steady_s() - began_s;
  std::printf("a queue of %.0f ms was left after %.0f ms\n", 1e3 * whole_s, 1e3 * took_s);
  EXPECT_LT(took_s, whole_s / 2);
  EXPECT_EQ(writes(), 0U);
  EXPECT_NE(metrics_.expose().find("slackline_plan_duration_seconds_count 0"), std::string::npos);
}

}  // namespace
}  // namespace slackline::control

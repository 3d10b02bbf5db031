// The thread that plans: only with the Lease, on own writes first, and never in a hot loop.
#include "control/plan/planner_loop.h"

#include <atomic>

#include <gtest/gtest.h>

#include "slackline/core/predictor.h"
#include "support/cluster_builder.h"
#include "support/fake_cluster.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;

class PlannerLoopTest : public testing::Test {
 protected:
  void SetUp() override {
    writer_.on_write = [this](const OwnWrite& write) {
      MutexLock lock(mutex_);
      written_.push_back(write);
      if (refused_) return Result<std::string>(fail(*refused_, "no"));
      return Result<std::string>(std::to_string(2000 + written_.size()));
    };
    actuator_ =
        std::make_unique<Actuator>(writer_, metrics_, [this] { loop_->wake(); }, system_clock());
    PlannerOptions options;
    options.policy = *core::parse_policy("savable,headroom=0,calm=0");
    options.catalog = default_gpu_catalog();
    loop_ = std::make_unique<PlannerLoop>(
        options, board_, source_, *actuator_,
        [this]() -> std::optional<std::int64_t> {
          const std::int64_t term = term_;
          return term > 0 ? std::optional(term) : std::nullopt;
        },
        metrics_, system_clock());
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
  static void let_it_run() { std::this_thread::sleep_for(std::chrono::milliseconds(300)); }

  static ClusterSnapshot two_jobs_one_node() {
    return a_cluster()
        .with(a_node("n1"))
        .with(a_job("a").gpus(4).waiting())
        .with(a_job("b").gpus(4).waiting())
        .build();
  }

  obs::MetricsRegistry metrics_;
  KnownBoard board_;
  test::FakeSource source_{two_jobs_one_node()};
  test::FakeWriter writer_;
  std::atomic<std::int64_t> term_{0};
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
  EXPECT_EQ(write(0).kind, OwnWriteKind::kReleaseJob);
  EXPECT_EQ(write(0).plan->epoch, 5);
  for (int i = 0; i < 5; ++i) {  // the snapshot never shows it, yet the GPUs are not given twice
    loop_->wake();
    let_it_run();
  }
  EXPECT_EQ(writes(), 1U);
}

TEST_F(PlannerLoopTest, WritesNothingOnACacheThatCannotBeBelieved) {
  source_.be({.synced = true, .age_s = 999, .stale = true, .detail = "silent"});
  term_ = 1;
  loop_->wake();
  let_it_run();
  EXPECT_EQ(writes(), 0U);
}

TEST_F(PlannerLoopTest, ARefusedWriteRestsBeforeItComesAgain) {
  {
    MutexLock lock(mutex_);
    refused_ = ErrorCode::kForbidden;
  }
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

}  // namespace
}  // namespace slackline::control

// What people are told of right-sizing: each thing once, and nothing old.
#include "control/plan/resize_news.h"

#include <vector>

#include <gtest/gtest.h>

#include "slackline/core/portrait/family.h"
#include "slackline/core/portrait/learn.h"
#include "slackline/model/reason.h"
#include "support/cluster_builder.h"
#include "support/portrait_runs.h"

namespace slackline::control {
namespace {

using test::a_cluster;
using test::a_job;
using test::a_node;

class ResizeNewsTest : public testing::Test {
 protected:
  ResizeNewsTest() {
    auto job = a_job("tonight").gpus(4).waiting();
    job.intent().family = "nightly";
    snapshot_ = a_cluster().with(a_node("n1").of("A100", 8)).with(job).build();
    options_.catalog = &catalog_;
    options_.predictor = std::make_shared<const core::Predictor>(WorkloadProfiles{});
    options_.now_wall_s = kNow_s;
    for (int night = 1; night <= 3; ++night)
      core::add_run(portrait_, run(night));
    publish();
  }

  static PortraitRun run(int number) {
    PortraitRun run = test::a_run(number, {.gpu = 0.3});
    run.finished_s = kNow_s - 86400 + number;
    return run;
  }
  void publish() {
    portrait_.identity.department = "default";
    portrait_.identity.family = "nightly";
    core::PortraitBook book;
    book.portraits[core::portrait_key(portrait_.identity)] =
        std::make_shared<const Portrait>(portrait_);
    book.version = ++version_;
    options_.portraits = std::make_shared<const core::PortraitBook>(std::move(book));
  }
  void look() {
    core::TaskMenus menus;
    const core::Queue queue = core::make_queue(snapshot_, options_, menus);
    news_.look(snapshot_, options_, queue, [this](TaskEvent event) {
      if (busy_) return false;
      told_.push_back(std::move(event));
      return true;
    });
  }

  static constexpr double kNow_s = 1.8e9;
  const GpuCatalog catalog_ = default_gpu_catalog();
  ClusterSnapshot snapshot_;
  core::QueueOptions options_;
  Portrait portrait_;
  std::uint64_t version_ = 0;
  bool busy_ = false;
  ResizeNews news_;
  std::vector<TaskEvent> told_;
};

TEST_F(ResizeNewsTest, ASuggestionIsMadeOnce) {
  busy_ = true;
  look();
  EXPECT_TRUE(told_.empty());
  busy_ = false;
  look();
  look();
  publish();
  look();
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].reason, reason::kResizeSuggested);
  EXPECT_EQ(told_[0].object.name, "tonight");
  EXPECT_EQ(told_[0].message.rfind("asks for 4 GPUs, the last 3 runs used 1.2", 0), 0U)
      << told_[0].message;
}

TEST_F(ResizeNewsTest, WhatIsAppliedIsNotSuggested) {
  QueueRulebook queues;
  queues.defaults.resize = ResizeMode::kAuto;
  options_.queues = &queues;
  Job job = *snapshot_.jobs.front();
  TaskIntent intent = *job.intent;
  intent.any_placement = true;
  job.intent = std::make_shared<const TaskIntent>(intent);
  snapshot_.jobs = {std::make_shared<const Job>(job)};
  core::add_run(portrait_, [] {
    PortraitRun last = run(4);
    last.requests = {1000, std::nullopt, std::int64_t{1} << 30};
    return last;
  }());
  publish();
  look();
  EXPECT_TRUE(told_.empty());
}

TEST_F(ResizeNewsTest, AFailureIsToldOnceUnlessItIsOld) {
  options_.queues = nullptr;
  snapshot_.jobs.clear();
  core::add_rollback(portrait_,
                     {kNow_s - 3600, Uid("u-1"), "nightly-1", ResizeFailure::kOutOfMemory});
  publish();
  look();
  EXPECT_TRUE(told_.empty()) << "whoever planned then told it";
  core::add_rollback(portrait_, {kNow_s - 60, Uid("u-2"), "nightly-2", ResizeFailure::kSlow});
  publish();
  look();
  publish();
  look();
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].reason, reason::kResizeRolledBack);
  EXPECT_EQ(told_[0].object, (ObjectKey{"default", "nightly-2"}));
  EXPECT_TRUE(told_[0].warning);
}

}  // namespace
}  // namespace slackline::control

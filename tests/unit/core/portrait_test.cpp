// How a portrait learns from runs, and how it is scored.
#include <gtest/gtest.h>

#include "slackline/core/portrait/histogram.h"
#include "slackline/core/portrait/learn.h"
#include "support/portrait_runs.h"

namespace slackline::core {
namespace {

using test::a_run;
using test::kRun_s;

const GpuType kOnA100("A100");

TEST(PortraitRuns, CountsWaitsOutcomesAndPreemptions) {
  Portrait portrait;
  PortraitRun failed = a_run(2);
  failed.outcome = RunOutcome::kFailed;
  failed.preemptions = 2;
  failed.speed = 0.8;
  add_run(portrait, a_run(1));
  add_run(portrait, failed);
  EXPECT_EQ(portrait.runs(), 2);
  EXPECT_EQ(portrait.outcomes[1], 1);
  EXPECT_EQ(portrait.preemptions, 2);
  EXPECT_DOUBLE_EQ(portrait.waits_s.mean(), 60);
  EXPECT_EQ(portrait.runs_s.runs, 1);  // what failed says nothing of how long a run takes
  EXPECT_DOUBLE_EQ(portrait.speeds.mean(), 0.8);
}

TEST(PortraitRuns, ARunThatIsToldAgainReplacesWhatItSaid) {
  Portrait portrait;
  add_run(portrait, a_run(1, {.gpu = 0.1}));
  add_run(portrait, a_run(1, {.gpu = 0.7}));
  EXPECT_EQ(portrait.runs(), 1);
  ASSERT_EQ(portrait.recent.size(), 1U);
  EXPECT_DOUBLE_EQ(*score_of(portrait), 0.7);
}

TEST(PortraitRuns, AnOutcomeThatIsCorrectedIsCountedOnce) {
  Portrait portrait;
  PortraitRun run = a_run(1);
  run.outcome = RunOutcome::kFailed;
  add_run(portrait, run);
  run.outcome = RunOutcome::kGpuOutOfMemory;
  add_run(portrait, run);
  EXPECT_EQ(portrait.outcomes, (std::array<std::int64_t, 4>{0, 0, 0, 1}));
}

// Jobs that are still listed are told again by every start of the daemon.
TEST(PortraitRuns, ARunOlderThanTheRememberedOnesIsNotCountedAgain) {
  Portrait portrait;
  for (int i = 0; i < 50; ++i)
    add_run(portrait, a_run(i));
  for (int i = 0; i < 50; ++i)
    add_run(portrait, a_run(i));
  EXPECT_EQ(portrait.runs(), 50);
  EXPECT_EQ(portrait.waits_s.runs, 50);
  EXPECT_EQ(portrait.past.front().run, Uid("run-18"));
  EXPECT_EQ(portrait.recent.back().usage.run, Uid("run-49"));
}

TEST(PortraitRuns, OnlyLongRunsThatSucceededAreEvidence) {
  PortraitRun run = a_run(1);
  EXPECT_TRUE(is_evidence(run));
  run.run_s = 29 * 60;
  EXPECT_FALSE(is_evidence(run));
  run.run_s = kRun_s;
  run.outcome = RunOutcome::kFailed;
  EXPECT_FALSE(is_evidence(run));
}

TEST(PortraitRuns, TheLastThreeOfAGpuTypeAreKept) {
  Portrait portrait;
  for (int i = 1; i <= 5; ++i) {
    add_run(portrait, a_run(2 * i));
    PortraitRun other = a_run(2 * i + 1);
    other.gpu_type = GpuType("T4");
    add_run(portrait, other);
  }
  const auto runs = evidence_on(portrait, kOnA100);
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs.front()->usage.run, Uid("run-6"));
  EXPECT_EQ(runs.back()->usage.run, Uid("run-10"));
  EXPECT_TRUE(evidence_on(portrait, GpuType("H200")).empty());
}

TEST(PortraitRuns, MemoryIsBounded) {
  Portrait portrait;
  for (int i = 0; i < 200; ++i) {
    PortraitRun run = a_run(i);
    run.gpu_type = GpuType("type-" + std::to_string(i % 20));
    add_run(portrait, run);
    run.usage.run = Uid("oom-" + std::to_string(i));
    run.outcome = RunOutcome::kOutOfMemory;
    add_run(portrait, run);
  }
  EXPECT_LE(portrait.recent.size(), kEvidenceRuns * kEvidenceTypes);
  EXPECT_EQ(portrait.past.size(), kPastRuns);
  EXPECT_EQ(portrait.shortages.size(), kShortages);
  EXPECT_EQ(portrait.runs(), 400);
}

TEST(PortraitRuns, AnotherImageOpensAVersionWithEvidenceOfItsOwn) {
  Portrait portrait;
  add_run(portrait, a_run(1, {.gpu = 0.2}));
  PortraitRun crashed = a_run(2);
  crashed.image_digest = "sha256:2";
  crashed.outcome = RunOutcome::kFailed;
  add_run(portrait, crashed);
  EXPECT_EQ(portrait.version, 2);
  EXPECT_DOUBLE_EQ(*score_of(portrait), 0.2);  // nothing newer is known
  PortraitRun run = a_run(3, {.gpu = 0.9});
  run.image_digest = "sha256:2";
  add_run(portrait, run);
  EXPECT_EQ(portrait.version, 2);
  EXPECT_DOUBLE_EQ(*score_of(portrait), 0.9);
}

TEST(PortraitRuns, WindowsGoIntoTheHistogramsUnlessTheGpuWasShared) {
  Portrait portrait;
  UsageSample window = a_run(1, {.gpu = 0.5}).usage;
  observe(portrait, window);
  window.gpus = UsageQuality::kShared;
  window.gpu_share = Usage{1, 1, 100 * kRun_s};
  observe(portrait, window);
  const auto scale = scale_of(UsageKind::kGpu);
  EXPECT_NEAR(*percentile(portrait.histograms[2], scale, 0.99), 0.5, 0.04);
  EXPECT_FALSE(portrait.histograms[0].buckets.empty());
}

TEST(PortraitScore, TheLevelGrowsWithTheUseOfGpus) {
  EXPECT_EQ(level_of(0.0), 1);
  EXPECT_EQ(level_of(0.5), 5);
  EXPECT_EQ(level_of(0.99), 9);
  EXPECT_EQ(level_of(1.0), 10);
  EXPECT_EQ(level_of(std::nullopt), kUnknownLevel);
}

TEST(PortraitScore, RunsThatWereHardlyMeasuredDoNotCount) {
  Portrait portrait;
  EXPECT_EQ(score_of(portrait), std::nullopt);
  PortraitRun run = a_run(1, {.gpu = 0.1});
  run.usage.gpu_share->seconds = 0.4 * kRun_s;
  add_run(portrait, run);
  EXPECT_EQ(score_of(portrait), std::nullopt);
  add_run(portrait, a_run(2, {.gpu = 0.6}));
  EXPECT_DOUBLE_EQ(*score_of(portrait), 0.6);
}

}  // namespace
}  // namespace slackline::core

// What a task is advised to ask for, why, and with what effect.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/core/portrait/advice.h"
#include "slackline/core/portrait/learn.h"
#include "support/portrait_runs.h"

namespace slackline::core {
namespace {

using test::a_run;
using test::kRun_s;
using test::Used;
using ::testing::HasSubstr;

Portrait portrait_of(const std::vector<PortraitRun>& runs) {
  Portrait portrait;
  for (const PortraitRun& run : runs)
    add_run(portrait, run);
  return portrait;
}

Portrait three_runs(const Used& used) {
  return portrait_of({a_run(1, used), a_run(2, used), a_run(3, used)});
}

// Four GPUs in a node, or fewer of them; no model says how long it takes.
AdviceQuestion question() {
  AdviceQuestion asked;
  asked.asked = {1, 4};
  asked.requests = a_run(3).requests;
  asked.gpu_type = GpuType("A100");
  for (const Placement& shape : smaller_shapes(asked.asked))
    asked.shapes.push_back({shape, std::nullopt});
  asked.now_s = a_run(4).finished_s;
  return asked;
}

struct GpuCase {
  double utilisation;
  double memory;
  int gpus;
};

TEST(PortraitAdvice, GpusFollowTheGreaterOfUtilisationAndMemory) {
  for (const GpuCase& one :
       {GpuCase{0.30, 0.22, 2}, GpuCase{0.225, 0.1, 1}, GpuCase{0.226, 0.1, 2},
        GpuCase{0.1, 0.60, 3}, GpuCase{0, 0, 1}, GpuCase{0.95, 0.1, 4}, GpuCase{0.2, 1.0, 4}}) {
    const Advice advice =
        advise(three_runs({.gpu = one.utilisation, .gpu_memory = one.memory}), question());
    ASSERT_TRUE(advice.gpus);
    EXPECT_EQ(advice.gpus->advised, (Placement{1, one.gpus})) << one.utilisation;
    EXPECT_EQ(advice.gpus->evidence.confidence, Confidence::kHigh);
  }
}

TEST(PortraitAdvice, FewerRunsAreLessEvidence) {
  EXPECT_FALSE(advise(Portrait{}, question()).gpus);
  const auto one = advise(portrait_of({a_run(1)}), question()).gpus;
  ASSERT_TRUE(one);
  EXPECT_EQ(one->evidence.runs, 1);
  EXPECT_EQ(one->evidence.confidence, Confidence::kLow);
  const auto two = advise(portrait_of({a_run(1), a_run(2)}), question()).gpus;
  EXPECT_EQ(two->evidence.confidence, Confidence::kMedium);
  AdviceQuestion borrowed = question();
  borrowed.match = PortraitMatch::kSimilar;
  EXPECT_EQ(advise(three_runs({}), borrowed).gpus->evidence.confidence, Confidence::kLow);
}

TEST(PortraitAdvice, ShortRunsAndOtherGpuTypesSayNothing) {
  PortraitRun brief = a_run(1);
  brief.run_s = 29 * 60;
  EXPECT_FALSE(advise(portrait_of({brief}), question()).gpus);
  AdviceQuestion elsewhere = question();
  elsewhere.gpu_type = GpuType("T4");
  const Advice advice = advise(three_runs({}), elsewhere);
  EXPECT_FALSE(advice.gpus || advice.cpu_limit || advice.memory);
}

TEST(PortraitAdvice, SharedGpusSayNothingOfGpusButOfCpu) {
  PortraitRun run = a_run(1);
  run.usage.gpus = UsageQuality::kShared;
  const Advice advice = advise(portrait_of({run}), question());
  EXPECT_FALSE(advice.gpus);
  EXPECT_TRUE(advice.cpu_request && advice.memory);
}

TEST(PortraitAdvice, TheNeedIsRoundedUpToAnAllowedShape) {
  AdviceQuestion asked = question();
  asked.shapes = {{{1, 1}, {}}, {{1, 3}, {}}, {{1, 4}, {}}};
  const auto advice = advise(three_runs({.gpu = 0.4}), asked).gpus;
  EXPECT_EQ(advice->needed, 2);
  EXPECT_EQ(advice->advised, (Placement{1, 3}));
  asked.shapes.clear();
  EXPECT_EQ(advise(three_runs({.gpu = 0.4}), asked).gpus->advised, asked.asked);
}

// A run that was made smaller uses more of what it has; the next advice is the same.
TEST(PortraitAdvice, ARunInASmallerShapeDoesNotChangeTheNeed) {
  PortraitRun smaller = a_run(1, {.gpu = 0.6, .gpu_memory = 0.44});
  smaller.shape = {1, 2};
  EXPECT_EQ(advise(portrait_of({smaller}), question()).gpus->needed, 2);
  EXPECT_EQ(advise(three_runs({.gpu = 0.3, .gpu_memory = 0.22}), question()).gpus->needed, 2);
}

TEST(PortraitAdvice, WhatTheModelSaysAboutTheDeadlineIsNeverGivenUp) {
  AdviceQuestion asked = question();
  asked.shapes = {{{1, 1}, 3600}, {{1, 2}, 2000}, {{1, 3}, 1500}, {{1, 4}, 1300}};
  const Portrait idle = three_runs({.gpu = 0.05, .gpu_memory = 0.05});
  EXPECT_EQ(advise(idle, asked).gpus->advised, (Placement{1, 1}));
  for (const auto& [left_s, gpus] : {std::pair{1600, 3}, std::pair{1400, 4}, std::pair{1000, 4},
                                     std::pair{2000, 2}, std::pair{9999, 1}}) {
    asked.time_left_s = left_s;
    EXPECT_EQ(advise(idle, asked).gpus->advised.gpus(), gpus) << left_s;
  }
  EXPECT_TRUE(*advise(idle, asked).gpus->deadline_kept);
}

TEST(PortraitAdvice, AShapeThatWouldTakeMoreGpuHoursIsNotAdvised) {
  AdviceQuestion asked = question();
  asked.shapes = {{{1, 1}, 9000}, {{1, 2}, 3000}, {{1, 4}, 2000}};
  EXPECT_EQ(advise(three_runs({.gpu = 0.1}), asked).gpus->advised, (Placement{1, 2}));
}

TEST(PortraitAdvice, TheEffectIsToldWithItsSource) {
  AdviceQuestion asked = question();
  const auto past = advise(three_runs({.gpu = 0.3}), asked).gpus;
  EXPECT_FALSE(past->modelled);
  EXPECT_DOUBLE_EQ(*past->gpu_hours_returned, 2);  // two of four GPUs, an hour
  EXPECT_EQ(past->deadline_kept, std::nullopt);
  EXPECT_THAT(explain(*past), HasSubstr("the last 3 runs used 1.2 of 4 GPUs (30 % of their time"));
  EXPECT_THAT(explain(*past), HasSubstr("2 (1x2) are enough; 2.0 GPU-hours a run returned"));

  asked.shapes = {{{1, 2}, 5400}, {{1, 4}, 3600}};
  asked.time_left_s = 7200;
  const auto modelled = advise(three_runs({.gpu = 0.3}), asked).gpus;
  EXPECT_TRUE(modelled->modelled);
  EXPECT_DOUBLE_EQ(*modelled->gpu_hours_returned, 1);
  EXPECT_THAT(explain(*modelled), HasSubstr("predicted 1h30m instead of 1h00m, 1.0 GPU-hours "
                                            "returned, deadline kept (confidence high)"));
  EXPECT_THAT(explain(*advise(three_runs({.gpu = 1}), asked).gpus), HasSubstr("the request stays"));
}

TEST(PortraitAdvice, TheModelPredictsTheOffers) {
  ProfileEntry entry;
  entry.model = "net";
  entry.gpu_type = GpuType("A100");
  entry.coefficients = {"A", {0, 0.01, 0, 0, 0, 0}};
  entry.startup_s = 30;
  const std::vector<Placement> shapes{{1, 1}, {1, 4}, {8, 16}};
  const auto offers = offers_of(PreparedModel(entry, 64), 100, shapes);
  ASSERT_EQ(offers.size(), shapes.size());
  EXPECT_NEAR(*offers[0].run_s, 100 * 0.64 + 30, 1e-9);
  EXPECT_NEAR(*offers[1].run_s, 100 * 0.16 + 30, 1e-9);
  EXPECT_EQ(offers[2].run_s, std::nullopt);  // more GPUs than the batch has samples
}

TEST(PortraitAdvice, ATaskThatNamesNoShapesMayHaveFewerGpusOrFewerNodes) {
  EXPECT_THAT(smaller_shapes({2, 2}),
              ::testing::ElementsAre(Placement{2, 1}, Placement{2, 2}, Placement{1, 2}));
}

TEST(PortraitAdvice, CpuIsTwiceTheMeanAndTwiceTheMost) {
  const Portrait portrait =
      portrait_of({a_run(1, {.cpu = 1, .cpu_max = 2}), a_run(2, {.cpu = 2, .cpu_max = 5}),
                   a_run(3, {.cpu = 3, .cpu_max = 4})});
  const Advice advice = advise(portrait, question());
  EXPECT_EQ(advice.cpu_request->advised, 4000);
  EXPECT_EQ(advice.cpu_limit->advised, 10000);
  EXPECT_FALSE(advice.cpu_request->raise || advice.cpu_limit->raise);
}

TEST(PortraitAdvice, CpuIsRaisedOnlyWhereUseWasAboveTheRequest) {
  AdviceQuestion asked = question();
  asked.requests.cpu_milli = 3000;
  asked.requests.cpu_limit_milli = 4000;
  // Twice the use is more than was asked for, the use itself is not.
  Advice advice = advise(three_runs({.cpu = 2, .cpu_max = 3}), asked);
  EXPECT_EQ(advice.cpu_request->advised, 3000);
  EXPECT_EQ(advice.cpu_limit->advised, 4000);
  // The mean is above the request, and the most at the limit.
  advice = advise(three_runs({.cpu = 3.5, .cpu_max = 3.9}), asked);
  EXPECT_TRUE(advice.cpu_request->raise && advice.cpu_limit->raise);
  EXPECT_EQ(advice.cpu_request->advised, 7000);
  EXPECT_EQ(advice.cpu_limit->advised, 7800);
  // A request never exceeds the limit.
  advice = advise(three_runs({.cpu = 3.1, .cpu_max = 3.2}), asked);
  EXPECT_EQ(advice.cpu_limit->advised, 4000);
  EXPECT_EQ(advice.cpu_request->advised, 4000);
}

TEST(PortraitAdvice, NoPodIsAdvisedToAskForNextToNothing) {
  AdviceQuestion asked = question();
  const Portrait idle = three_runs({.cpu = 0, .cpu_max = 0, .memory = 1});
  EXPECT_EQ(advise(idle, asked).cpu_request->advised, kLeastCpu_milli);
  EXPECT_EQ(advise(idle, asked).memory->advised, kLeastMemory_bytes);
  asked.requests = {10, 10, 1000};
  EXPECT_EQ(advise(idle, asked).cpu_request->advised, 10);
  EXPECT_EQ(advise(idle, asked).memory->advised, 1000);
}

TEST(PortraitAdvice, MemoryIsThePeakAndFifteenPercent) {
  const Portrait portrait = portrait_of({a_run(1, {.memory = 4e9}), a_run(2, {.memory = 6e9})});
  EXPECT_EQ(advise(portrait, question()).memory->advised, 6'900'000'000);
  AdviceQuestion asked = question();
  asked.requests.memory_bytes = 6'500'000'000;
  EXPECT_EQ(advise(portrait, asked).memory->advised, 6'500'000'000);  // its use fits
  asked.requests.memory_bytes = 5'000'000'000;
  EXPECT_TRUE(advise(portrait, asked).memory->raise);
  EXPECT_EQ(advise(portrait, asked).memory->advised, 6'900'000'000);
}

TEST(PortraitAdvice, AfterOomKilledMemoryIsRaisedForEightDays) {
  PortraitRun killed = a_run(3);
  killed.run_s = 60;
  killed.outcome = RunOutcome::kOutOfMemory;
  killed.requests.memory_bytes = 10'000'000'000;
  killed.usage.memory_bytes.reset();
  const Portrait portrait = portrait_of({a_run(1), a_run(2), killed});
  AdviceQuestion asked = question();
  asked.requests.memory_bytes = killed.requests.memory_bytes;
  const auto advice = advise(portrait, asked).memory;
  EXPECT_TRUE(advice->shortage && advice->raise);
  EXPECT_EQ(advice->advised, 13'800'000'000);  // 10 GB x 1.2 x 1.15
  asked.now_s = killed.finished_s + kShortageSeen_s + 1;
  EXPECT_EQ(advise(portrait, asked).memory->advised, 4'600'000'000);
  // Even the first run of all tells it.
  asked.now_s = killed.finished_s;
  EXPECT_EQ(advise(portrait_of({killed}), asked).memory->advised, 13'800'000'000);
}

}  // namespace
}  // namespace slackline::core

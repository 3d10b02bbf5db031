// The bytes of a portrait: the same portrait comes back, and damage is told.
#include <gtest/gtest.h>

#include "slackline/core/portrait/learn.h"
#include "slackline/core/portrait/packed.h"
#include "support/portrait_runs.h"

namespace slackline::core {
namespace {

using test::a_run;

Portrait nightly(int runs) {
  Portrait portrait;
  portrait.identity.department = "lab";
  portrait.identity.owner = "train";
  portrait.identity.image = "registry:5000/team/net:v2";
  portrait.identity.model = "resnet50";
  portrait.identity.framework = "Job";
  portrait.identity.parameters = 2.5e7;
  portrait.identity.submitter = "jane";
  for (int i = 0; i < runs; ++i) {
    PortraitRun run = a_run(i);
    run.usage.run = Uid("0a1b2c3d-0000-4000-8000-0000000000" + std::to_string(10 + i));
    if (i == 4) run.outcome = RunOutcome::kOutOfMemory;
    if (i == 5) run.usage.run = Uid("not-a-uuid");
    add_run(portrait, run);
    observe(portrait, run.usage);
  }
  return portrait;
}

TEST(PackedPortrait, TheSamePortraitComesBack) {
  const Portrait portrait = nightly(9);
  const std::string bytes = packed(portrait);
  const auto back = unpacked_portrait(bytes);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(packed(*back), bytes);
  EXPECT_EQ(back->identity.image, portrait.identity.image);
  EXPECT_EQ(back->identity.parameters, portrait.identity.parameters);
  EXPECT_EQ(back->identity.submitter, "jane");
  EXPECT_EQ(back->runs(), 9);
  EXPECT_EQ(back->outcomes, portrait.outcomes);
  ASSERT_EQ(back->past.size(), 9U);
  EXPECT_EQ(back->past[3].run, portrait.past[3].run);
  EXPECT_EQ(back->past[5].run, Uid("not-a-uuid"));
  ASSERT_EQ(back->recent.size(), portrait.recent.size());
  EXPECT_EQ(back->recent.back().requests, portrait.recent.back().requests);
  EXPECT_NEAR(back->recent.back().usage.gpu_share->mean, 0.5, 1e-6);
  EXPECT_DOUBLE_EQ(back->last_s, portrait.last_s);
  ASSERT_EQ(back->shortages.size(), 1U);
  EXPECT_EQ(score_of(*back).has_value(), score_of(portrait).has_value());
  EXPECT_EQ(level_of(score_of(*back)), level_of(score_of(portrait)));
}

TEST(PackedPortrait, WhatResizingCameToComesBack) {
  Portrait portrait = nightly(3);
  PortraitRun run = a_run(9);
  run.resized = ResizedRun{.given = {2000, 4000, 5'000'000'000}, .expected_s = 4000};
  add_run(portrait, run);
  EXPECT_EQ(portrait.resizing.kept_s, run.finished_s);
  PortraitRun failed = a_run(10);
  failed.outcome = RunOutcome::kGpuOutOfMemory;
  failed.resized = run.resized;
  add_run(portrait, failed);
  const auto back = unpacked_portrait(packed(portrait));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->resizing.kept_s, run.finished_s);
  EXPECT_EQ(back->resizing.rolled_back.at_s, failed.finished_s);
  EXPECT_EQ(back->resizing.rolled_back.run, failed.usage.run);
  EXPECT_EQ(back->resizing.rolled_back.task, "train");
  EXPECT_EQ(back->resizing.rolled_back.failure, ResizeFailure::kGpuOutOfMemory);
  ASSERT_TRUE(back->recent.back().resized);
  EXPECT_EQ(back->recent.back().resized->given, run.resized->given);
  EXPECT_EQ(back->recent.back().resized->expected_s, 4000);
  EXPECT_FALSE(back->others_changed);
  portrait.others_changed = true;
  EXPECT_TRUE(unpacked_portrait(packed(portrait))->others_changed);
}

// What version 2 added, where there is nothing of it: two times, a run's number and empty name, an
// empty task, a cause; errors of run times, a submitter whose name is written already.
constexpr std::size_t kAddedBytes = 8;

// A portrait without a run, as the version before right-sizing wrote it.
TEST(PackedPortrait, BytesOfTheFirstVersionAreRead) {
  std::string bytes = packed(Portrait{});
  ASSERT_EQ(bytes.front(), 3);
  bytes.front() = 2;
  bytes.pop_back();
  EXPECT_TRUE(unpacked_portrait(bytes)) << "of the second one";
  bytes.front() = 1;
  bytes.resize(bytes.size() - kAddedBytes);
  const auto back = unpacked_portrait(bytes);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->resizing.rolled_back.at_s, 0);
  bytes.front() = 4;
  EXPECT_FALSE(unpacked_portrait(bytes)) << "of a later one";
}

TEST(PackedPortrait, AnEmptyOneComesBack) {
  const auto back = unpacked_portrait(packed(Portrait{}));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->runs(), 0);
}

TEST(PackedPortrait, EveryCutIsTold) {
  const std::string bytes = packed(nightly(9));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto cut = unpacked_portrait(std::string_view(bytes).substr(0, size));
    ASSERT_FALSE(cut) << size;
    ASSERT_EQ(cut.error().code, ErrorCode::kDataLoss);
  }
  EXPECT_FALSE(unpacked_portrait(bytes + "x"));
}

// A byte that is wrong may make another portrait, but never anything beyond its bounds.
TEST(PackedPortrait, DamagedBytesMakeNoUnboundedPortrait) {
  const std::string bytes = packed(nightly(9));
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    const auto read = unpacked_portrait(damaged);
    if (!read) continue;
    EXPECT_LE(read->past.size(), kPastRuns);
    EXPECT_LE(read->recent.size(), kEvidenceRuns * kEvidenceTypes);
  }
}

TEST(PackedPortrait, ANightlyFamilyTakesTwoKilobytes) {
  EXPECT_LT(packed(nightly(40)).size(), 2048U);
}

}  // namespace
}  // namespace slackline::core

// Portraits: what is told of families is known, and is there again after a restart (F30-F34).
#include "control/portrait/portraits.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "slackline/base/text.h"
#include "slackline/core/portrait/family.h"
#include "slackline/core/portrait/learn.h"
#include "support/fake_clock.h"
#include "support/portrait_runs.h"
#include "support/temporary_folder.h"

namespace slackline::control {
namespace {

using test::a_run;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

PortraitIdentity family(const std::string& name) {
  PortraitIdentity identity;
  identity.department = "lab";
  identity.family = name;
  return identity;
}

class PortraitsTest : public ::testing::Test {
 protected:
  // Runs of a_run() end a thousand days after 1970.
  PortraitsTest() { clock.jump_wall(86400.0 * 1010 - clock.wall_s()); }

  std::unique_ptr<Portraits> open() {
    auto portraits = Portraits::open(options, metrics, clock);
    EXPECT_TRUE(portraits) << portraits.error().message;
    return std::move(*portraits);
  }
  core::PortraitPtr known(const Portraits& portraits, const std::string& name) {
    return portraits.known().get()->find(family(name));
  }
  EndedRun unmeasured(int number) {
    EndedRun ended{.identity = family("a"), .run = a_run(number)};
    ended.run.usage.gpu_share.reset();
    ended.run.usage.gpus = UsageQuality::kUnknown;
    return ended;
  }
  void damage(const std::string& path) {
    for (const char* suffix : {"-wal", "-shm"})
      fs::remove(path + suffix);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file << std::string(8192, 'x');
  }

  test::FakeClock clock;
  test::TemporaryFolder folder;
  obs::MetricsRegistry metrics;
  PortraitOptions options{.path = folder.file("portraits.db"), .busy_timeout_s = 0.1};
};

TEST_F(PortraitsTest, WhatWasToldIsThereAfterARestart) {
  {
    auto portraits = open();
    portraits->add_run(family("a"), a_run(1));
    portraits->observe({{family("a"), a_run(2).usage}, {family("b"), a_run(2).usage}});
    ASSERT_TRUE(portraits->settle());
    EXPECT_EQ(known(*portraits, "a")->runs(), 1);
  }
  const auto portraits = open();
  ASSERT_NE(known(*portraits, "a"), nullptr);
  EXPECT_EQ(known(*portraits, "a")->runs(), 1);
  EXPECT_FALSE(known(*portraits, "a")->histograms[0].buckets.empty());
  ASSERT_NE(known(*portraits, "b"), nullptr) << "windows are written by the stop at the latest";
  EXPECT_EQ(known(*portraits, "c"), nullptr);
}

TEST_F(PortraitsTest, ALaterMeasurementReplacesTheEndAndIsNotLostToARestart) {
  {
    auto portraits = open();
    portraits->add_unmeasured(unmeasured(1));
    portraits->add_run(family("a"), a_run(1));
  }
  auto portraits = open();
  portraits->add_unmeasured(unmeasured(1));  // its Job is still listed
  portraits->add_unmeasured(unmeasured(2));
  ASSERT_TRUE(portraits->settle());
  const core::PortraitPtr portrait = known(*portraits, "a");
  EXPECT_EQ(portrait->runs(), 2);
  ASSERT_TRUE(core::score_of(*portrait));
  EXPECT_NEAR(*core::score_of(*portrait), 0.5, 1e-6);
}

TEST_F(PortraitsTest, ADamagedFileLosesNothing) {
  open()->add_run(family("a"), a_run(1));
  damage(options.path);
  {
    const auto portraits = open();
    EXPECT_EQ(known(*portraits, "a")->runs(), 1);
    EXPECT_EQ(*portraits->problem().get(), "") << "its mirror had everything";
    EXPECT_THAT(metrics.expose(),
                HasSubstr("slackline_portrait_store_damaged{outcome=\"restored\"} 1"));
  }
  damage(options.path);
  damage(options.path + ".mirror");
  const auto portraits = open();
  EXPECT_EQ(known(*portraits, "a"), nullptr);
  EXPECT_THAT(*portraits->problem().get(), HasSubstr("was damaged and its mirror held nothing"));
}

TEST_F(PortraitsTest, APortraitThatCannotBeReadIsToldAndTheOthersAreThere) {
  {
    auto portraits = open();
    portraits->add_run(family("a"), a_run(1));
    portraits->add_run(family("b"), a_run(1));
  }
  for (const std::string& path : {options.path, options.path + ".mirror"})
    ASSERT_TRUE(store::Database::open_reader(path, 1)->execute(
        "PRAGMA query_only=OFF; UPDATE portraits SET bytes = x'0102' WHERE key LIKE '%=a'"));
  const auto portraits = open();
  EXPECT_EQ(known(*portraits, "a"), nullptr);
  EXPECT_NE(known(*portraits, "b"), nullptr);
  EXPECT_THAT(*portraits->problem().get(), HasSubstr("the portrait of lab/family=a"));
}

TEST_F(PortraitsTest, LearnsOnWhileTheFileCannotBeWrittenAndWritesLater) {
  auto portraits = open();
  auto other = store::Database::open_reader(options.path, 1);
  ASSERT_TRUE(other->execute("PRAGMA query_only=OFF; BEGIN IMMEDIATE"));
  portraits->add_run(family("a"), a_run(1));
  const Status refused = portraits->settle();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(known(*portraits, "a")->runs(), 1);
  EXPECT_THAT(*portraits->problem().get(), HasSubstr("cannot be written"));
  ASSERT_TRUE(other->execute("ROLLBACK"));
  ASSERT_TRUE(portraits->settle());
  EXPECT_EQ(*portraits->problem().get(), "");
  portraits.reset();
  EXPECT_EQ(known(*open(), "a")->runs(), 1);
}

TEST_F(PortraitsTest, BeginsWithoutItsFileWhereTheDiskRefuses) {
  fs::create_directory(options.path + ".lock");
  auto portraits = open();
  portraits->add_run(family("a"), a_run(1));
  EXPECT_FALSE(portraits->settle());
  EXPECT_EQ(known(*portraits, "a")->runs(), 1);
  fs::remove(options.path + ".lock");
  EXPECT_TRUE(portraits->settle());
}

// What the file has is what is told on top of, not what it replaces.
TEST_F(PortraitsTest, WhatIsToldBeforeItsFileOpensIsAddedToWhatTheFileHas) {
  {
    auto portraits = open();
    for (int i = 1; i <= 3; ++i)
      portraits->add_run(family("a"), a_run(i));
    portraits->add_run(family("gone"), a_run(1));
    ASSERT_TRUE(portraits->settle());
  }
  fs::remove(options.path + ".lock");
  fs::create_directory(options.path + ".lock");
  auto portraits = open();
  portraits->add_run(family("a"), a_run(4));
  EXPECT_FALSE(portraits->forget({core::portrait_key(family("gone"))}));
  EXPECT_EQ(known(*portraits, "a")->runs(), 1);
  fs::remove(options.path + ".lock");
  ASSERT_TRUE(portraits->settle());
  EXPECT_EQ(known(*portraits, "a")->runs(), 4);
  portraits.reset();
  EXPECT_EQ(known(*open(), "a")->runs(), 4);
  EXPECT_EQ(known(*open(), "gone"), nullptr);
}

TEST_F(PortraitsTest, OldOnesAreForgottenAndTooManyToo) {
  options.most = 3;
  auto portraits = open();
  for (int i = 1; i <= 5; ++i)
    portraits->add_run(family("f" + std::to_string(i)), a_run(i));
  ASSERT_TRUE(portraits->settle());
  EXPECT_EQ(known(*portraits, "f2"), nullptr);
  EXPECT_NE(known(*portraits, "f3"), nullptr);
  clock.advance(options.keep_s - 86400.0 * 5);
  portraits->add_run(family("f6"), a_run(300));
  ASSERT_TRUE(portraits->settle());
  EXPECT_EQ(known(*portraits, "f3"), nullptr);
  EXPECT_NE(known(*portraits, "f5"), nullptr);
  portraits.reset();
  EXPECT_EQ(open()->known().get()->portraits.size(), 2U);
}

TEST_F(PortraitsTest, OnesThatAreReadReplaceAndOneThatIsForgottenStaysAway) {
  auto portraits = open();
  portraits->add_run(family("a"), a_run(1));
  Portrait read;
  read.identity = family("a");
  for (int i = 1; i <= 4; ++i)
    core::add_run(read, a_run(i));
  ASSERT_TRUE(portraits->put({read}));
  EXPECT_EQ(known(*portraits, "a")->runs(), 4);
  ASSERT_TRUE(portraits->forget({core::portrait_key(family("a"))}));
  portraits.reset();
  EXPECT_EQ(known(*open(), "a"), nullptr);
}

// A run a night on one GPU type, or in turns on two.
Portrait nightly(int family) {
  Portrait portrait;
  for (int i = 0; i < 40; ++i) {
    const double part = ((family * 7 + i * 13) % 97) / 97.0;
    PortraitRun run = a_run(i, {.gpu = part, .gpu_memory = part, .cpu = 1 + 4 * part});
    run.usage.run = Uid(format("0a1b2c3d-{:04}-4000-8000-{:012}", i, family));
    run.usage.task = {"lab", format("train-resnet-{}-x7k2p", 1000 + family)};
    if (family % 4 == 0 && i % 2 == 0) run.gpu_type = GpuType("T4");
    core::add_run(portrait, run);
    for (int window = 0; window < 10; ++window) {
      UsageSample sample = run.usage;
      sample.gpu_share->mean = std::min(1.0, part * (0.8 + 0.04 * window));
      sample.cpu_cores->mean *= 0.8 + 0.04 * window;
      core::observe(portrait, sample);
    }
  }
  return portrait;
}

// A fifth of them, in both files.
TEST_F(PortraitsTest, TenThousandPortraitsTakeLessThanFiftyMegabytes) {
  constexpr int kFamilies = 2000;
  std::vector<Portrait> some;
  for (int f = 0; f < 100; ++f)
    some.push_back(nightly(f));
  std::vector<Portrait> all;
  for (int f = 0; f < kFamilies; ++f) {
    all.push_back(some[static_cast<std::size_t>(f % 100)]);
    PortraitIdentity& identity = all.back().identity;
    identity.department = format("team-{}", f % 100);
    identity.owner = format("train-resnet-{}", f);
    identity.image = format("registry.example.com/team/trainer:v{}", f % 50);
    identity.model = "resnet50";
    identity.framework = "Job";
  }
  {
    const auto portraits = open();
    ASSERT_TRUE(portraits->put(std::move(all)));
  }
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder.path()))
    bytes += fs::file_size(entry.path());
  RecordProperty("bytes", std::to_string(bytes));
  EXPECT_LT(bytes, 50'000'000U / 5);
  EXPECT_EQ(open()->known().get()->portraits.size(), std::size_t{kFamilies});
}

}  // namespace
}  // namespace slackline::control

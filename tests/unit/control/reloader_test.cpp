// A configuration file that changes under a running daemon.
#include "control/state/reloader.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include <gmock/gmock.h>

#include "config/load.h"
#include "support/eventually.h"
#include "support/temporary_folder.h"

namespace slackline::control {
namespace {

using ::testing::HasSubstr;

constexpr const char* kHeader =
    "apiVersion: config.slackline.dev/v1alpha1\nkind: SlacklineConfiguration\n";

class ReloaderTest : public ::testing::Test {
 protected:
  void follow(const std::string& body) {
    replace(body);
    ReloaderOptions options;
    options.file = file_;
    options.started = config::load_configuration(file_).value();
    options.read = [this]() -> Result<config::Configuration> {
      ++reads_;
      if (!needed_.empty() && !std::filesystem::exists(needed_))
        return fail(ErrorCode::kNotFound, needed_ + ": is missing");
      return config::load_configuration(file_);
    };
    options.changed = [this] { ++changes_; };
    options.poll_s = 0.01;
    options.retry_s = retry_s_;
    settings_.set(settings_of(options.started).value());
    reloader_ = std::make_unique<Reloader>(std::move(options), settings_, metrics_, system_clock());
    reloader_->start();
  }
  // As editors and kubectl do it: next to the file, then renamed over it.
  void replace(const std::string& body) {
    const std::string beside = folder_.file("new.yaml");
    std::ofstream(beside) << kHeader << body;
    std::filesystem::rename(beside, file_);
  }
  std::int64_t max_pending(const std::string& queue) const {
    return settings_.get()->queues.of(queue).max_pending;
  }
  bool counts(const std::string& sample) const {
    return test::eventually([&] { return metrics_.expose().find(sample) != std::string::npos; });
  }
  static std::string reloads(const std::string& result, int count) {
    return "slackline_config_reloads_total{result=\"" + result + "\"} " + std::to_string(count) +
           "\n";
  }

  test::TemporaryFolder folder_;
  const std::string file_ = folder_.file("slackline.yaml");
  obs::MetricsRegistry metrics_;
  Published<Settings> settings_;
  std::atomic<int> changes_ = 0;
  std::atomic<int> reads_ = 0;
  double retry_s_ = 30;
  std::string needed_;  // a file without which the configuration cannot be used
  std::unique_ptr<Reloader> reloader_;
};

TEST_F(ReloaderTest, AChangedFileIsObeyed) {
  follow("queue: {maxPending: 3}\n");
  const SettingsPtr before = settings_.get();
  replace(
      "queue: {maxPending: 5}\nplanner: {policy: fifo}\nscoring: {theta: 2}\n"
      "queues: [{name: a, maxPending: 1}]\nwebhook: {schedulerName: other}\n");
  ASSERT_TRUE(counts(reloads("loaded", 1)));
  EXPECT_EQ(max_pending("a"), 1);
  EXPECT_EQ(max_pending("b"), 5);
  EXPECT_EQ(settings_.get()->theta, 2);
  EXPECT_EQ(settings_.get()->policy.name, "fifo");
  EXPECT_EQ(settings_.get()->scheduler_name, "other");
  EXPECT_EQ(before->queues.defaults.max_pending, 3) << "who reads it keeps what they took";
}

TEST_F(ReloaderTest, ABadFileChangesNothingAndIsCounted) {
  follow("queue: {maxPending: 3}\n");
  testing::internal::CaptureStderr();
  replace("queue: {maxPending: many}\nlog: {level: loud}\n");
  ASSERT_TRUE(counts(reloads("refused", 1)));
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("; " + file_ + ":4: error: log.level"))
      << "on one line";
  replace("queue: {maxPending: 9}\nplanner: {policy: no-such-policy}\n");
  ASSERT_TRUE(counts(reloads("refused", 2)));
  EXPECT_EQ(max_pending("a"), 3);
  EXPECT_EQ(changes_, 0);
  std::filesystem::remove(file_);
  ASSERT_TRUE(counts(reloads("refused", 3)));
  EXPECT_EQ(max_pending("a"), 3);
  replace("queue: {maxPending: 4}\n");
  ASSERT_TRUE(counts(reloads("loaded", 1))) << "a good one heals";
  EXPECT_EQ(max_pending("a"), 4);
}

// Such as a profile that is mounted later than the configuration that names it.
TEST_F(ReloaderTest, WhatWasRefusedIsTriedAgainWithoutAChange) {
  retry_s_ = 0.02;
  needed_ = folder_.file("profile.json");
  follow("queue: {maxPending: 3}\n");
  replace("queue: {maxPending: 5}\n");
  ASSERT_TRUE(counts(reloads("refused", 1)));
  const int reads = reads_;
  ASSERT_TRUE(test::eventually([&] { return reads_ >= reads + 3; }));
  EXPECT_TRUE(counts(reloads("refused", 1))) << "the same is not said again";
  EXPECT_EQ(max_pending("a"), 3);
  std::ofstream(needed_) << "{}";
  ASSERT_TRUE(counts(reloads("loaded", 1)));
  EXPECT_EQ(max_pending("a"), 5);
}

TEST(SettingsOf, RefusesOptionsThatStudiesAdviseAgainst) {
  config::Configuration configuration;
  const auto error_of = [&](const std::string& policy) {
    configuration.planner.policy = policy;
    const auto settings = settings_of(configuration);
    return settings ? std::string() : settings.error().message;
  };
  for (const std::string option : {"shrink=on", "order=area", "rest=fifo", "rest=ratio"})
    EXPECT_EQ(error_of("default,protect=5, " + option),
              "planner.policy: option " + option +
                  ": studies advise against it, so only `slackline simulate` takes it "
                  "(docs/study/tried.md); leave it out");
  for (const std::string policy : {"default", "savable,headroom=0,calm=0", "default,rest=level",
                                   "min-min/shrink", "reserve,preemption=on"})
    EXPECT_EQ(error_of(policy), "") << policy;
}

TEST_F(ReloaderTest, AConfigMapSwapsASymlink) {
  for (const char* version : {"v1", "v2"})
    std::filesystem::create_directory(folder_.file(version));
  std::ofstream(folder_.file("v1/c.yaml")) << kHeader << "queue: {maxPending: 1}\n";
  std::ofstream(folder_.file("v2/c.yaml")) << kHeader << "queue: {maxPending: 2}\n";
  std::filesystem::create_directory_symlink("v1", folder_.file("data"));
  std::filesystem::create_symlink("data/c.yaml", file_);
  ReloaderOptions options;
  options.file = file_;
  options.started = config::load_configuration(file_).value();
  options.read = [this] { return config::load_configuration(file_); };
  options.changed = [this] { ++changes_; };
  options.poll_s = 0.01;
  Reloader reloader(std::move(options), settings_, metrics_, system_clock());
  reloader.start();
  std::filesystem::create_directory_symlink("v2", folder_.file("data-new"));
  std::filesystem::rename(folder_.file("data-new"), folder_.file("data"));
  ASSERT_TRUE(counts(reloads("loaded", 1)));
  EXPECT_EQ(max_pending("a"), 2);
}

TEST_F(ReloaderTest, AChangeBetweenTheStartAndTheFirstLookIsSeen) {
  replace("queue: {maxPending: 3}\n");
  ReloaderOptions options;
  options.file = file_;
  options.started = config::load_configuration(file_).value();
  options.read = [this] { return config::load_configuration(file_); };
  options.changed = [this] { ++changes_; };
  replace("queue: {maxPending: 5}\n");
  Reloader reloader(std::move(options), settings_, metrics_, system_clock());
  reloader.start();
  ASSERT_TRUE(counts(reloads("loaded", 1)));
  EXPECT_EQ(max_pending("a"), 5);
}

TEST_F(ReloaderTest, AChangeDuringTheFirstLookIsLoadedOnce) {
  replace("queue: {maxPending: 3}\n");
  ReloaderOptions options;
  options.file = file_;
  options.started = config::load_configuration(file_).value();
  options.read = [this, first = true]() mutable {
    if (std::exchange(first, false)) replace("queue: {maxPending: 5}\n");
    return config::load_configuration(file_);
  };
  options.changed = [this] { ++changes_; };
  options.poll_s = 0.01;
  Reloader reloader(std::move(options), settings_, metrics_, system_clock());
  reloader.start();
  ASSERT_TRUE(test::eventually([&] { return max_pending("a") == 5; }));
  replace("queue: {maxPending: 55}\n");
  ASSERT_TRUE(test::eventually([&] { return max_pending("a") == 55; }));
  EXPECT_TRUE(counts(reloads("loaded", 2)));
}

TEST_F(ReloaderTest, WhatNeedsARestartIsLoggedByItsKeys) {
  follow("");
  testing::internal::CaptureStderr();
  replace("mode: active\nqueue: {maxPending: 5}\n");
  ASSERT_TRUE(counts(reloads("loaded", 1)));
  ASSERT_TRUE(test::eventually([&] { return changes_ > 0; }));
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("configuration_needs_restart"), HasSubstr("keys=mode")));
  EXPECT_EQ(max_pending("a"), 5) << "the rest is taken";
}

TEST_F(ReloaderTest, AnUnchangedFileIsReadAgainWhenAskedTo) {
  follow("queue: {maxPending: 5}\n");
  reloader_->reload();
  EXPECT_TRUE(counts(reloads("loaded", 1)));
}

}  // namespace
}  // namespace slackline::control

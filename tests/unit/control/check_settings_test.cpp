#include "control/state/check_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slackline::control {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const GpuCatalog kCatalog = default_gpu_catalog();

Settings moving_by(const std::string& policy) {
  Settings settings;
  settings.policy = *core::parse_policy(policy);
  settings.queues.named["vision"].rescheduling = Rescheduling::kAuto;
  settings.queues.named["text"];
  return settings;
}

TEST(CheckSettings, WarnsOfMovesThatThePolicyNeverMakes) {
  const config::Findings findings = check_settings(moving_by("savable"), kCatalog);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].severity, config::Severity::kWarning);
  EXPECT_EQ(findings[0].path, "queues[name=vision].rescheduling");
  EXPECT_THAT(findings[0].problem, HasSubstr("savable stops no task"));
  EXPECT_THAT(findings[0].remedy, HasSubstr("planner.policy: default"));
  EXPECT_THAT(check_settings(moving_by("default"), kCatalog), IsEmpty());
}

TEST(CheckSettings, WarnsOfMovesOfAQueueThatIsNotPreemptible) {
  Settings settings = moving_by("default");
  settings.queues.named["vision"].preemptible = false;
  settings.queues.named["text"].preemptible = false;
  const config::Findings findings = check_settings(settings, kCatalog);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].path, "queues[name=vision].rescheduling");
  EXPECT_THAT(findings[0].problem, HasSubstr("the queue is not preemptible"));
  EXPECT_THAT(findings[0].remedy, HasSubstr("preemption.preemptible: true"));
}

TEST(CheckSettings, WarnsOfMovesOfAQueueThatAsksForNotice) {
  Settings settings = moving_by("default");
  settings.queues.named["vision"].notice_s = 30;
  settings.queues.named["text"].notice_s = 30;
  const config::Findings findings = check_settings(settings, kCatalog);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_THAT(findings[0].problem, HasSubstr("asks for notice"));
  EXPECT_THAT(findings[0].remedy, HasSubstr("preemption.notice: 0s"));
}

TEST(CheckSettings, NamesTheDefaultRatherThanEveryQueue) {
  Settings settings = moving_by("savable");
  settings.queues.defaults.rescheduling = Rescheduling::kAuto;
  const config::Findings findings = check_settings(settings, kCatalog);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].path, "queue.rescheduling");
}

TEST(CheckSettings, WarnsOfSharesOfTypesThatNobodyKnowsOrThatAreGivenTwice) {
  Settings settings = moving_by("default");
  settings.queues.named["vision"].shares = {
      {"A100", {4, 0}}, {"a100", {2, 0}}, {"A1000000", {1, 0}}, {"H100-PCIe", {1, 0}}};
  const config::Findings findings = check_settings(settings, kCatalog);
  ASSERT_THAT(findings, SizeIs(2));
  EXPECT_EQ(findings[0].path, "queues[name=vision].shares.A1000000");
  EXPECT_THAT(findings[0].problem, HasSubstr("no rule names"));
  EXPECT_EQ(findings[1].path, "queues[name=vision].shares.a100");
  EXPECT_THAT(findings[1].problem, HasSubstr("is A100 once more"));
}

}  // namespace
}  // namespace slackline::control

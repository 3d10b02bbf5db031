#include "slackline/core/planning/policy.h"

#include <gtest/gtest.h>

namespace slackline::core {
namespace {

std::string error_of(std::string_view text) {
  const auto policy = parse_policy(text);
  return policy ? "" : policy.error().message;
}

TEST(Policy, EveryNameThatIsListedIsRead) {
  EXPECT_GE(policy_names().size(), 20U);
  for (const std::string& name : policy_names()) {
    const auto policy = parse_policy(name);
    ASSERT_TRUE(policy) << policy.error().message;
    EXPECT_EQ(policy->name, name);
    EXPECT_EQ(name.rfind("savable", 0) == 0 || name.rfind("default", 0) == 0,
              policy->family == "savable-first");
  }
}

TEST(Policy, NamesStandForTheirOptions) {
  const SavableOptions savable = parse_policy("savable")->options.savable;
  EXPECT_EQ(savable.preempt, SavableOptions::Preempt::kNever);
  EXPECT_EQ(savable.headroom, 0.125);
  EXPECT_EQ(savable.calm, 0.125);
  const SavableOptions preempting = parse_policy("savable-p/m")->options.savable;
  EXPECT_EQ(preempting.preempt, SavableOptions::Preempt::kResumableVictims);
  EXPECT_EQ(preempting.headroom, 0);
  EXPECT_EQ(preempting.margin, 0.1);
  EXPECT_EQ(parse_policy("savable/area")->options.savable.place, SavableOptions::Place::kArea);
  EXPECT_FALSE(preempting.trade);
  EXPECT_TRUE(parse_policy("default")->options.savable.follow_error);
  EXPECT_TRUE(parse_policy("default")->options.savable.trade);
  EXPECT_TRUE(parse_policy("default")->options.savable.learn);
  EXPECT_FALSE(parse_policy("default,margin=0.2")->options.savable.follow_error);
  EXPECT_EQ(parse_policy("min-min/shrink")->options.counting, Counting::kShrink);
  EXPECT_EQ(parse_policy("qos/yield")->options.blocked, Blocked::kYields);
}

TEST(Policy, OptionsOverrideWhatTheNameSays) {
  const auto policy = parse_policy(
      "savable-p, preempt=1, order=slack ,rest=fifo,place=perf,shrink=on,patience=60,"
      "max_preempts=7,tick=0");
  ASSERT_TRUE(policy) << policy.error().message;
  const SavableOptions& options = policy->options.savable;
  EXPECT_EQ(options.preempt, SavableOptions::Preempt::kLateVictims);
  EXPECT_EQ(options.order, SavableOptions::Order::kSlack);
  EXPECT_EQ(options.rest, SavableOptions::Rest::kFifo);
  EXPECT_EQ(options.place, SavableOptions::Place::kPerf);
  EXPECT_TRUE(options.shrink);
  EXPECT_EQ(options.patience_s, 60);
  EXPECT_EQ(options.max_preempts, 7);
  EXPECT_EQ(options.tick_s, 0);
}

TEST(Policy, AWrongNameIsAnsweredWithWhatIsAllowed) {
  EXPECT_NE(error_of("savble").find("allowed: fifo, min-min"), std::string::npos);
  EXPECT_NE(error_of("qos/hop").find("allowed: qos/skip, qos/yield"), std::string::npos);
  EXPECT_NE(error_of("savable,marge=1").find("allowed: p0, age"), std::string::npos);
  EXPECT_NE(error_of("savable,order=size").find("deadline or area or slack or class"),
            std::string::npos);
  EXPECT_NE(error_of("savable,share=1.5").find("from 0 to 1"), std::string::npos);
  EXPECT_NE(error_of("savable,margin=-1").find("from 0 on"), std::string::npos);
  EXPECT_NE(error_of("savable,max_preempts=many").find("an integer"), std::string::npos);
  EXPECT_NE(error_of("fifo,margin=1").find("takes no options"), std::string::npos);
  EXPECT_NE(error_of("").find("unknown policy"), std::string::npos);
}

}  // namespace
}  // namespace slackline::core

#include "slackline/core/planning/policy.h"

#include <gtest/gtest.h>

namespace slackline::core {
namespace {

std::string error_of(std::string_view text) {
  const auto policy = parse_policy(text);
  return policy ? "" : policy.error().message;
}

std::string value_of(std::string_view policy, std::string_view name) {
  const auto parsed = parse_policy(policy);
  if (!parsed) return parsed.error().message;
  for (const PolicyOption& option : parsed->options())
    if (option.name == name) return option.value;
  return "no such option";
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
  EXPECT_EQ(value_of("savable", "preempt"), "0");
  EXPECT_EQ(value_of("savable", "headroom"), "0.125");
  EXPECT_EQ(value_of("savable", "calm"), "0.125");
  EXPECT_EQ(value_of("savable-p/m", "preempt"), "2");
  EXPECT_EQ(value_of("savable-p/m", "headroom"), "0");
  EXPECT_EQ(value_of("savable-p/m", "margin"), "0.1");
  EXPECT_EQ(value_of("savable/area", "place"), "area");
  EXPECT_EQ(value_of("savable-p/m", "trade"), "off");
  EXPECT_EQ(value_of("default", "margin"), "auto");
  EXPECT_EQ(value_of("default", "trade"), "on");
  EXPECT_EQ(value_of("default", "learn"), "on");
  EXPECT_EQ(value_of("default,margin=0.2", "margin"), "0.2");
  EXPECT_EQ(value_of("default/m", "margin"), "0.1");
  EXPECT_TRUE(parse_policy("fifo/idle")->options().empty());
}

TEST(Policy, OptionsOverrideWhatTheNameSays) {
  const std::string text =
      "savable-p, preempt=1, order=slack ,rest=fifo,place=perf,shrink=on,patience=60,"
      "max_preempts=7,tick=0,margin=auto";
  for (const auto& [name, value] :
       std::initializer_list<std::pair<const char*, const char*>>{{"preempt", "1"},
                                                                  {"order", "slack"},
                                                                  {"rest", "fifo"},
                                                                  {"place", "perf"},
                                                                  {"shrink", "on"},
                                                                  {"patience", "60"},
                                                                  {"max_preempts", "7"},
                                                                  {"tick", "0"},
                                                                  {"margin", "auto"}})
    EXPECT_EQ(value_of(text, name), value) << name;
}

TEST(Policy, OnlyPreemptingOnesStopRuns) {
  EXPECT_FALSE(parse_policy("fifo")->preempts());
  EXPECT_FALSE(parse_policy("savable")->preempts());
  EXPECT_TRUE(parse_policy("savable,preempt=1")->preempts());
  EXPECT_TRUE(parse_policy("default")->preempts());
  EXPECT_FALSE(parse_policy("reserve")->preempts());
  EXPECT_TRUE(parse_policy("reserve,preemption=on")->preempts());
  EXPECT_EQ(parse_policy("reserve,preemption=on")->stop_limits()->most_stops, 3);
  EXPECT_EQ(parse_policy("reserve,preemption=on")->budget()->least_gpu_s, 4 * 3600);
}

TEST(Policy, EveryOptionSaysWhatItTakesAndMeans) {
  const auto options = parse_policy("default")->options();
  EXPECT_GE(options.size(), 19U);
  for (const PolicyOption& option : options) {
    EXPECT_FALSE(option.allowed.empty() || option.description.empty()) << option.name;
    const auto again = parse_policy("savable," + std::string(option.name) + "=" + option.value);
    EXPECT_TRUE(again) << "its value is one that it takes: " << option.name;
  }
}

TEST(Policy, AWrongNameIsAnsweredWithWhatIsAllowed) {
  EXPECT_NE(error_of("savble").find("allowed: fifo, min-min"), std::string::npos);
  EXPECT_NE(error_of("qos/hop").find("allowed: qos/skip, qos/yield"), std::string::npos);
  EXPECT_NE(error_of("savable,marge=1").find("savable has no option \"marge\"; allowed: p0, age"),
            std::string::npos);
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

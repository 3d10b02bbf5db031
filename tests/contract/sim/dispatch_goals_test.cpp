// What predictions that learn are worth to a task that is given to a node when it arrives. The
// bands are a little wider than what docs/study/dispatching.md has, since fewer worlds are drawn
// here.
#include <string>

#include <gtest/gtest.h>

#include "sim/presets/network_file.h"
#include "sim/presets/preset.h"

namespace slackline::sim {
namespace {

constexpr const char* kLearned = "learned";

struct Figures {
  double response_ratio = 0;
  double throughput_ratio = 0;
  double worst_world = 0;
};

Figures dispatched_by(const char* policy, const char* rate = "48", const char* flag = "",
                      const char* jobs = "1500", const char* worlds = "0-5",
                      const std::string& network = "") {
  const Preset& preset = *find_preset("paper001").value();
  PresetRequest request;
  request.seeds = parse_seeds(worlds).value();
  request.policies = {policy};
  for (const PresetOption& option : preset.options)
    request.values[std::string(option.name)] = option.value;
  request.values["rate"] = rate;
  request.values["jobs"] = jobs;
  if (*flag != '\0') request.values[flag] = "yes";
  if (!network.empty()) request.files["network"] = {"network.json", "", network};
  const auto figures = preset.run(request).value().rows.front().figures;
  return {figures[0], figures[1], figures[2]};
}

TEST(DispatchGoals, TheTableBeatsTheBestSimpleRuleFromNothing) {
  const Figures table = dispatched_by("table");
  EXPECT_LE(table.response_ratio, 0.9);
  EXPECT_GE(table.throughput_ratio, 1.03);
  EXPECT_LE(table.worst_world, 1.2);
  EXPECT_GE(dispatched_by("mct").response_ratio, 1) << "the ratio it is measured by is the best";
}

TEST(DispatchGoals, WhatItHasLearntBeforeIsWorthMore) {
  const Figures table = dispatched_by("table+history", "48", "", "1500", "0-2");
  EXPECT_LE(table.response_ratio, 0.78);
  EXPECT_GE(table.throughput_ratio, 1.05);
  EXPECT_LE(table.worst_world, 1.2);
}

TEST(DispatchGoals, OneNetworkForAllNodesLearnsNoLess) {
  const Figures learned = dispatched_by("learned", "48", "", "1500", "0-1");
  EXPECT_LE(learned.response_ratio, 0.78);
  EXPECT_GE(learned.throughput_ratio, 1.05);
  EXPECT_LE(learned.worst_world, 1.2);
}

TEST(DispatchGoals, TheNetworkIsTrainedOnceForNewTasksAtOtherRates) {
  const std::string network = write_network(train_network({{1}, 48, false, 6000, 1}));
  const auto by = [&](const char* policy, const char* rate) {
    return dispatched_by(policy, rate, "", "1500", "1", policy == kLearned ? network : "");
  };
  EXPECT_EQ(by(kLearned, "48").response_ratio,
            dispatched_by(kLearned, "48", "", "1500", "1").response_ratio)
      << "as when it trains itself on that world";
  for (const char* rate : {"40", "55"})
    EXPECT_LE(by(kLearned, rate).response_ratio, by("table", rate).response_ratio) << rate;
}

TEST(DispatchGoals, ThePapersNetworkOfRewardsIsWorseThanSimpleRules) {
  EXPECT_GE(dispatched_by("dqn", "48", "", "1500", "0").response_ratio, 1.5);
}

TEST(DispatchGoals, WherePredictionsAreRightItChangesNothing) {
  EXPECT_DOUBLE_EQ(dispatched_by("table", "48", "clean").response_ratio,
                   dispatched_by("mct", "48", "clean").response_ratio);
}

TEST(DispatchGoals, NodesThatComeAndGoNeedNoRetraining) {
  const auto with_changes = [](const char* policy) {
    return dispatched_by(policy, "36", "node-changes", "3000", "0-1").response_ratio;
  };
  EXPECT_LE(with_changes("table+history"), 1.2 * with_changes("clairvoyant"));
}

}  // namespace
}  // namespace slackline::sim

#include "sim/presets/preset.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "sim/pair_fit.h"
#include "sim/presets/pair_world.h"
#include "slackline/base/text.h"
#include "wire/samples/pair_codec.h"

namespace slackline::sim {
namespace {

// Measured pairs of `tasks` tasks: even ones hardly mind a neighbour, two odd ones slow each other
// down to a third, and task 0 does not run beside task 1.
std::string pair_file(int tasks) {
  std::string text;
  for (int a = 0; a < tasks; ++a) {
    text += format("{}\"task {}\":{{\"null\":10", a == 0 ? "" : ",", a);
    for (int b = 0; b < tasks; ++b) {
      const bool both_odd = a % 2 == 1 && b % 2 == 1;
      const double speed = a + b == 1 ? 0 : both_odd ? 3 + 0.01 * a : 8 + 0.01 * a;
      const double other = a + b == 1 ? 0 : both_odd ? 3 + 0.01 * b : 8 + 0.01 * b;
      text += format(",\"task {}\":[{},{}]", b, speed, other);
    }
    text += "}";
  }
  return "{\"t4\":{" + text + "}}";
}

PresetRequest request_for(const Preset& preset) {
  PresetRequest request;
  request.seeds = {0, 1};
  request.policies = parse_preset_policies(preset, "").value();
  for (const PresetOption& option : preset.options)
    request.values[std::string(option.name)] = option.value;
  return request;
}

double figure(const PresetReport& report, std::string_view policy, std::string_view name) {
  for (const PresetReport::Row& row : report.rows)
    for (std::size_t i = 0; i < row.figures.size(); ++i)
      if (row.name == policy && report.figures[i] == name) return row.figures[i];
  ADD_FAILURE() << "no " << name << " of " << policy;
  return 0;
}

TEST(Presets, AreFoundByNameAndListedInTheError) {
  for (const Preset* preset : presets()) {
    EXPECT_EQ(find_preset(preset->name).value(), preset);
    EXPECT_TRUE(parse_seeds(preset->seeds)) << preset->name;
    EXPECT_LE(preset->compared, preset->policies.size());
    for (const PresetOption& option : preset->options)
      EXPECT_EQ(check_preset_value(option, std::string(option.value)), "") << option.name;
  }
  const auto unknown = find_preset("paper999");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("no preset is named \"paper999\"; there are"),
            std::string::npos);
}

TEST(Presets, SeedsAreOneOrARange) {
  EXPECT_EQ(parse_seeds("3").value(), std::vector<std::uint64_t>{3});
  EXPECT_EQ(parse_seeds("0-2").value(), (std::vector<std::uint64_t>{0, 1, 2}));
  for (const char* bad :
       {"", "-", "2-1", "0-1000", "1-2-3", "a", "-3", "0-", "0-99999999999999999"})
    EXPECT_FALSE(parse_seeds(bad)) << bad;
}

TEST(Presets, PoliciesAreOfThePresetAndEachOnce) {
  const Preset& sharing = *find_preset("sharing").value();
  EXPECT_EQ(parse_preset_policies(sharing, "pairs,random").value(),
            (std::vector<std::string>{"pairs", "random"}));
  EXPECT_NE(parse_preset_policies(sharing, "fifo").error().message.find("there are exclusive"),
            std::string::npos);
  EXPECT_EQ(parse_preset_policies(sharing, "pairs,pairs").error().message,
            "the policy pairs is named twice");
}

TEST(Presets, ValuesAreChecked) {
  const PresetOption number{"x", PresetKind::kNumber, "1", "", 0, 2};
  const PresetOption whole{"x", PresetKind::kWhole, "1", "", 0, 2};
  const PresetOption choice{"x", PresetKind::kChoice, "a", "", 0, 0, "a|b"};
  EXPECT_EQ(check_preset_value(number, "0.5"), "");
  EXPECT_EQ(check_preset_value(number, "3"), "\"3\" must be a number between 0 and 2");
  EXPECT_EQ(check_preset_value(number, "nan"), "\"nan\" must be a number between 0 and 2");
  EXPECT_EQ(check_preset_value(whole, "0.5"), "\"0.5\" must be a whole number between 0 and 2");
  EXPECT_EQ(check_preset_value(choice, "b"), "");
  EXPECT_EQ(check_preset_value(choice, "c"), "\"c\" must be one of a, b");
}

TEST(Presets, AReportIsATableAndJson) {
  const PresetReport report{{"jct_ratio"}, {{"pairs", {0.5}}}, "a note"};
  EXPECT_EQ(format_preset_json(report),
            "{\"policies\":[{\"name\":\"pairs\",\"jct_ratio\":0.5}]}\n");
  EXPECT_EQ(format_preset_table(report), "POLICY  JCT RATIO\npairs       0.500\na note\n");
}

TEST(Presets, AFigureOfNobodyIsNotTold) {
  const PresetReport report{
      {"jct_ratio"}, {{"pairs", {std::numeric_limits<double>::quiet_NaN()}}}, ""};
  EXPECT_EQ(format_preset_json(report),
            "{\"policies\":[{\"name\":\"pairs\",\"jct_ratio\":null}]}\n");
  EXPECT_EQ(format_preset_table(report), "POLICY  JCT RATIO\npairs           -\n");
}

TEST(Presets, WhatAFileHoldsIsNoWrongUsage) {
  EXPECT_EQ(in_file({ErrorCode::kInvalidArgument, "x"}).code, ErrorCode::kDataLoss);
  EXPECT_EQ(in_file({ErrorCode::kNotFound, "x"}).code, ErrorCode::kNotFound);
  const Preset& match = *find_preset("match").value();
  PresetRequest request = request_for(match);
  request.files["speeds"] = {"t.json", "", "[]"};
  EXPECT_EQ(match.run(request).error().code, ErrorCode::kDataLoss);
}

// Two kinds of tasks that run on both types.
constexpr std::string_view kSpeeds = R"json({
    "k80": {"('ResNet-50 (batch size 64)', 1)": {"null": 0.5},
            "('Transformer (batch size 16)', 1)": {"null": 2}},
    "p100": {"('ResNet-50 (batch size 64)', 1)": {"null": 2},
             "('Transformer (batch size 16)', 1)": {"null": 4}}})json";

TEST(MatchPreset, ABaselineForWhichNobodyWaitsIsOneToItself) {
  const Preset& match = *find_preset("match").value();
  PresetRequest request = request_for(match);
  request.values["jobs"] = "5";
  request.values["gpus"] = "1000";
  request.files["speeds"] = {"t.json", "", std::string(kSpeeds)};
  const auto report = match.run(request);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(figure(*report, "fastest-free", "longest_wait_ratio"), 1);
}

TEST(MatchPreset, ATypeThatTheFileLacksIsWrongUsage) {
  const Preset& match = *find_preset("match").value();
  PresetRequest request = request_for(match);
  request.values["types"] = "k80,v100";
  request.files["speeds"] = {"t.json", "", std::string(kSpeeds)};
  EXPECT_EQ(match.run(request).error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(match.run(request).error().message, "--types: the file has no speed on one V100");
}

TEST(Paper001, TheNoteTellsTheNodesThatSoManyTasksSee) {
  const Preset& paper001 = *find_preset("paper001").value();
  PresetRequest request = request_for(paper001);
  request.seeds = {0};
  request.policies = {"mct"};
  request.values["rate"] = "20";
  const auto note = [&](const char* tasks, const char* changes) {
    request.values["jobs"] = tasks;
    request.values["node-changes"] = changes;
    return paper001.run(request).value().note;
  };
  constexpr const char* kLived = "have lived it on the first 8 nodes.";
  EXPECT_NE(note("50", "").find("on 11 nodes. "), std::string::npos);
  EXPECT_EQ(note("50", "").find(kLived), std::string::npos);
  EXPECT_NE(note("50", "yes").find(kLived), std::string::npos);
  EXPECT_NE(note("1000", "yes").find("on 8 nodes ("), std::string::npos);
  EXPECT_NE(note("1001", "yes").find("on 11 nodes (8, then 11). "), std::string::npos);
  EXPECT_NE(note("2001", "yes").find("on 11 nodes (8, then 11, then 9). "), std::string::npos);
}

TEST(SharingPreset, PartnersByPairsBeatAnyPartner) {
  const Preset& preset = *find_preset("sharing").value();
  PresetRequest request = request_for(preset);
  request.values["jobs"] = "150";
  request.values["gpus"] = "4";
  request.files["pairs"] = {"p.json", "", pair_file(6)};
  const auto report = preset.run(request);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_NEAR(figure(*report, "exclusive", "worst_slowdown"), 1, 1e-6);
  EXPECT_EQ(figure(*report, "least-loaded", "jct_ratio"), 1);
  EXPECT_LT(figure(*report, "pairs", "jct_ratio"), 0.95);
  EXPECT_LT(figure(*report, "pairs", "jct_ratio"), figure(*report, "exclusive", "jct_ratio"));
  EXPECT_LT(figure(*report, "pairs", "worst_slowdown"),
            figure(*report, "random", "worst_slowdown"));
  EXPECT_EQ(format_preset_json(*report), format_preset_json(*preset.run(request)))
      << "the same seeds, the same bytes";
}

// One family in two batch sizes: the larger one is faster, and does not run beside itself.
TEST(SharingPreset, ALighterVariantJoinsWhereTheFastestDoesNotRun) {
  const Preset& preset = *find_preset("sharing").value();
  PresetRequest request = request_for(preset);
  request.policies = {"fastest-any", "fastest-best", "variants"};
  request.values["jobs"] = "100";
  request.values["gpus"] = "4";
  request.values["load"] = "1.3";
  request.values["known"] = "1";
  request.files["pairs"] = {
      "p.json", "",
      R"json({"t4": {"LM (batch size 40)": {"null": 10, "LM (batch size 80)": [9, 5]},
                     "LM (batch size 80)": {"null": 5.5, "LM (batch size 80)": [0, 0]}}})json"};
  const auto report = preset.run(request);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_NEAR(figure(*report, "fastest-best", "jct_ratio"), 1, 1e-9) << "nobody shares";
  EXPECT_LT(figure(*report, "variants", "jct_ratio"), 0.8);
  EXPECT_EQ(figure(*report, "variants", "bound_broken"), 0);
  request.values["bound"] = "0.95";
  EXPECT_NEAR(figure(*preset.run(request), "variants", "jct_ratio"), 1, 1e-9)
      << "the resident would keep 0.91 of its speed";
}

TEST(SharingPreset, CountsTheJoinsThatBreakTheBoundOfAResident) {
  const Preset& preset = *find_preset("sharing").value();
  PresetRequest request = request_for(preset);
  request.policies = {"exclusive", "least-loaded", "pairs/exact"};
  request.files["pairs"] = {"p.json", "", pair_file(6)};
  const auto report = preset.run(request);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(figure(*report, "exclusive", "bound_broken"), 0);
  EXPECT_GT(figure(*report, "least-loaded", "bound_broken"), 0.1) << "odd beside odd";
  EXPECT_EQ(figure(*report, "pairs/exact", "bound_broken"), 0);
}

TEST(SharingPreset, OtherScoresShareAsWellAsTheVetoesLetThem) {
  const Preset& preset = *find_preset("sharing").value();
  PresetRequest request = request_for(preset);
  request.policies = {"utilisation", "utilisation/no-veto", "cosine", "cosine/no-veto"};
  request.values["jobs"] = "150";
  request.values["gpus"] = "4";
  request.files["pairs"] = {"p.json", "", pair_file(6)};
  const auto report = preset.run(request);
  ASSERT_TRUE(report) << report.error().message;
  for (const std::string name : {"utilisation", "cosine"})
    EXPECT_LT(figure(*report, name, "jct_ratio"), figure(*report, name + "/no-veto", "jct_ratio"));
}

TEST(PairWorld, StandsInForThePortraitOfATask) {
  const PairWorld world(wire::read_pairs(pair_file(6), "p.json", "").value());
  EXPECT_NEAR(world.utilisation(2), 0.1975, 1e-9) << "its six neighbours keep 0.8 to 0.805";
  EXPECT_NEAR(world.utilisation(3), 0.4475, 1e-9) << "three of them 0.8, the odd ones 0.3";
  const auto metrics = world.metrics(0);
  ASSERT_EQ(metrics.size(), 6U);
  EXPECT_NEAR(metrics[5], 1 - 0.805, 1e-9);
  EXPECT_EQ(metrics[1], world.utilisation(0)) << "it did not run beside task 1";
}

TEST(SharingPreset, NamesTheFileThatItCannotRead) {
  const Preset& preset = *find_preset("sharing").value();
  PresetRequest request = request_for(preset);
  request.files["pairs"] = {"p.json", "v100", pair_file(3)};
  EXPECT_EQ(preset.run(request).error().message, "p.json: has no GPU type \"v100\"; it has t4");
}

TEST(PairWorld, TellsAWrongTypeFromAFileThatIsWrong) {
  const auto code = [](const std::string& text, const char* type) {
    return read_pair_file(text, "p.json", type).error().code;
  };
  EXPECT_TRUE(read_pair_file(pair_file(3), "p.json", "T4"));
  EXPECT_EQ(code(pair_file(3), "v100"), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code(R"({"t4": {}, "v100": {}})", ""), ErrorCode::kInvalidArgument) << "which?";
  EXPECT_EQ(code(R"({"t4": {}})", "t4"), ErrorCode::kNotFound) << "no pair ran";
  for (const char* bad : {"{", "[]", R"({"t4": 1})", R"({"t4": {"task": {}}})"})
    EXPECT_EQ(code(bad, "t4"), ErrorCode::kDataLoss) << bad;
}

TEST(PairFit, DoesNotTellTheErrorOfAnotherKind) {
  const auto measured = wire::read_pairs(pair_file(8), "p.json", "").value();
  // Seven pairs: 7 to 14 cells, where als needs 20.
  const auto rows = fit_pair_kinds(measured, {0.2, 2});
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_TRUE(std::isfinite((*rows)[0].mean_ape)) << "cold";
  EXPECT_TRUE(std::isfinite((*rows)[1].mean_ape)) << "log-additive";
  EXPECT_TRUE(std::isnan((*rows)[2].mean_ape)) << "als";
  EXPECT_TRUE(std::isnan((*rows)[3].mean_ape)) << "ncf";
  EXPECT_NE(format_pair_fit_json(*rows).find("{\"name\":\"als\",\"known\":0.2,\"mean_ape\":null}"),
            std::string::npos);
  EXPECT_TRUE(format_pair_fit_table(*rows).ends_with(
      "-: too few cells r(A|B) are known; als needs 20, ncf needs 40. A larger --known gives "
      "more.\n"));
}

TEST(PairFit, HoldsOutWhatIsNotKnown) {
  const auto measured = wire::read_pairs(pair_file(8), "p.json", "").value();
  const auto rows = fit_pair_kinds(measured, {0.6, 2});
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 4U);
  EXPECT_EQ((*rows)[0].name, "cold");
  EXPECT_EQ((*rows)[1].name, "log-additive");
  EXPECT_LT((*rows)[1].mean_ape, (*rows)[0].mean_ape);
  EXPECT_LT((*rows)[2].mean_ape, (*rows)[1].mean_ape) << "odd beside odd is a product";
  EXPECT_EQ(fit_pair_kinds(measured, {0.001, 2}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(fit_pair_kinds(measured, {0.999, 2}).error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace slackline::sim

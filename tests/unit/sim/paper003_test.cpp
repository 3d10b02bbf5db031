#include <cmath>
#include <memory>

#include <gtest/gtest.h>

#include "sim/presets/elastic_run.h"
#include "sim/presets/preset.h"
#include "slackline/base/text.h"

namespace slackline::sim {
namespace {

const Preset& paper003() {
  return *find_preset("paper003").value();
}

PresetRequest small_request() {
  PresetRequest request;
  request.seeds = {0, 1};
  request.policies = parse_preset_policies(paper003(), "").value();
  for (const PresetOption& option : paper003().options)
    request.values[std::string(option.name)] = option.value;
  request.values["jobs"] = "30";
  request.values["units"] = "60";
  request.folders["curve-files"] = {};
  return request;
}

PresetFile accuracies(int rows) {
  std::string text = "progress,metric\n";
  for (int row = 0; row < rows; ++row)
    text += format("{},{}\n", row, 0.9 - 0.8 / (row + 1));
  return {"validation-1.csv", "", text};
}

TEST(Paper003, LossesTellWhoseUnitsAreWorthMost) {
  const auto report = paper003().run(small_request());
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->figures,
            (std::vector<std::string>{"to90_ratio", "to95_ratio", "completion_ratio",
                                      "loss_14min_ratio", "owed_unit_min"}));
  ASSERT_EQ(report->rows.size(), 4U);
  EXPECT_GE(report->rows[0].figures[0], 1) << "the better of both is a part of it";
  EXPECT_LT(report->rows[2].figures[0], 0.8) << "loss-greedy to 90 %";
  EXPECT_EQ(format_preset_json(*report), format_preset_json(*paper003().run(small_request())))
      << "the same seeds, the same bytes";
}

TEST(Paper003, TradesMindWhatRestartsCost) {
  PresetRequest request = small_request();
  request.values["restart"] = "60";
  const auto report = paper003().run(request);
  ASSERT_TRUE(report);
  EXPECT_LT(report->rows[3].figures[0], 0.9) << "trades to 90 %";
  EXPECT_LT(report->rows[3].figures[2], 0.9 * report->rows[2].figures[2])
      << "completion of trades and loss-greedy";
}

TEST(Paper003, RatiosAreToTheSameBaselinesWhateverIsCompared) {
  PresetRequest alone = small_request();
  alone.policies = {"loss-greedy"};
  EXPECT_EQ(paper003().run(alone)->rows[0].figures,
            paper003().run(small_request())->rows[2].figures);
}

TEST(Paper003, AccountsPayBackWhatWasTaken) {
  PresetRequest request = small_request();
  request.policies = {"fair", "loss-greedy", "loss-greedy/accounts"};
  const auto rows = paper003().run(request)->rows;
  EXPECT_EQ(rows[0].figures[4], 0) << "nothing is owed of fair shares";
  EXPECT_LT(rows[2].figures[4], 0.9 * rows[1].figures[4]);
  EXPECT_LT(rows[2].figures[2], rows[1].figures[2]) << "completion";
}

TEST(Paper003, HeavyTasksComeFirst) {
  PresetRequest request = small_request();
  request.policies = {"loss-greedy"};
  request.values["heavy"] = "0.25";
  const auto report = paper003().run(request);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->figures.back(), "heavy_to90_ratio");
  EXPECT_LT(report->rows[0].figures[5], 0.9 * report->rows[0].figures[0]);
}

TEST(Paper003, AMeanOfNobodyIsLeftOut) {
  PresetRequest request = small_request();
  request.policies = {"trades"};
  request.values["heavy"] = "0.008";
  const auto heavy_to90 = [&](std::vector<std::uint64_t> seeds) {
    request.seeds = std::move(seeds);
    return paper003().run(request)->rows[0].figures[5];
  };
  const double told = heavy_to90({0});
  EXPECT_TRUE(std::isfinite(told)) << "one of its tasks is heavy";
  EXPECT_TRUE(std::isnan(heavy_to90({1}))) << "none is";
  EXPECT_DOUBLE_EQ(heavy_to90({0, 1}), told);
}

TEST(Paper003, EarlyStopsEndTasksThatHardlyGetBetter) {
  PresetRequest request = small_request();
  request.policies = {"fair"};
  request.values["early-stop"] = "yes";
  const auto report = paper003().run(request);
  ASSERT_TRUE(report);
  const auto& figures = report->rows[0].figures;
  EXPECT_LT(figures[2], 1) << "completion";
  EXPECT_GT(figures[5], 0) << "stopped";
  EXPECT_LE(figures[6], figures[5]) << "before 90 %";
}

TEST(Paper003, MeasuredCurvesAreReadAsLosses) {
  PresetRequest request = small_request();
  request.values["curves"] = "real";
  request.folders["curve-files"] = {accuracies(19), accuracies(40)};
  const auto report = paper003().run(request);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_LT(report->rows[2].figures[0], 1);
  EXPECT_NE(report->note.find(" Losses of 1 measured curve."), std::string::npos)
      << "19 rows are too few";
}

TEST(Paper003, SaysWhatItCannotRead) {
  PresetRequest request = small_request();
  request.values["curves"] = "real";
  request.values["curve-files"] = "here";
  request.folders["curve-files"] = {accuracies(19)};
  EXPECT_EQ(paper003().run(request).error().message,
            "here holds no validation-*.csv with a column metric of 20 rows or more: name the "
            "folder with --curve-files");
  request.folders["curve-files"] = {{"validation-2.csv", "", "metric\n1\nx\n"}};
  EXPECT_EQ(paper003().run(request).error().message,
            "validation-2.csv: line 3: metric \"x\" must be a number");
  EXPECT_EQ(paper003().run(request).error().code, ErrorCode::kDataLoss);
}

// One task with 32 units: a minute of work in all, halves of its loss a known time apart.
TEST(ElasticRun, TellsWhenTheLossIsLowEnough) {
  const auto losses = std::make_shared<const LossSteps>(LossSteps{1, 0.5, 0.1, 0.05, 0});
  const std::vector<ElasticJob> jobs = {{0, 32 * 400, losses, 1}};
  const auto all = [](auto tasks, const auto&) { return std::vector<int>(tasks.size(), 32); };
  const ElasticOutcome outcome = run_elastic({1, 32, 0}, jobs, all);
  EXPECT_NEAR(outcome.to90_s, 200, 1e-6);
  EXPECT_NEAR(outcome.to95_s, 300, 1e-6);
  EXPECT_NEAR(outcome.completion_s, 400, 1e-6);
  EXPECT_EQ(outcome.loss_14min, 0);
}

TEST(ElasticRun, AJobThatStartsAfterFourteenMinutesHasAllOfItsLossThen) {
  const auto losses = std::make_shared<const LossSteps>(LossSteps{1, 0.5, 0.1, 0.05, 0});
  const auto all = [](auto tasks, const auto&) { return std::vector<int>(tasks.size(), 32); };
  ElasticLoad load{1, 32};
  load.period_s = 1000;
  const auto loss_at_14min = [&](double submit_s) {
    return run_elastic(load, {{submit_s, 32 * 4000, losses, 1}}, all).loss_14min;
  };
  EXPECT_EQ(loss_at_14min(10), 1) << "it gets units 990 s after its submit";
  EXPECT_NEAR(loss_at_14min(500), 1 - 0.5 * 340 / 1000, 1e-9);
}

TEST(ElasticRun, ARestartIsPaidForResizingButNotForTheFirstStart) {
  const auto losses = std::make_shared<const LossSteps>(LossSteps{1, 0});
  const std::vector<ElasticJob> jobs = {{0, 4 * 1200, losses, 1}};
  const auto halve_once = [](auto tasks, const auto&) {
    return std::vector<int>{tasks[0].units == 0 ? 4 : 2};
  };
  // 4 units for 120 s leave 4320 unit-seconds to two units after 30 s.
  const ElasticOutcome outcome = run_elastic({1, 32, 30}, jobs, halve_once);
  EXPECT_NEAR(outcome.completion_s, 120 + 30 + 2160, 1e-6);
  EXPECT_NEAR(outcome.loss_14min, 1 - (4 * 120 + 2 * (840 - 150)) / 4800.0, 1e-9);
}

TEST(ElasticRun, AnEarlyStopKeepsTheLossThatItHad) {
  LossSteps flat = {1, 0.2};
  flat.resize(200, 0.2);
  flat.push_back(0);
  const std::vector<ElasticJob> jobs = {{0, 4 * 8000, std::make_shared<const LossSteps>(flat), 1}};
  const auto four = [](auto tasks, const auto&) { return std::vector<int>(tasks.size(), 4); };
  const ElasticLoad patient{1, 4};
  ElasticLoad hasty = patient;
  hasty.early_stop = true;
  const ElasticOutcome stopped = run_elastic(hasty, jobs, four);
  EXPECT_EQ(stopped.stopped, 1);
  EXPECT_EQ(stopped.lost, 1) << "on a plateau before the fall";
  EXPECT_TRUE(std::isnan(stopped.to90_s)) << "nobody got there";
  EXPECT_NEAR(stopped.loss_14min, 0.2, 1e-9);
  const ElasticOutcome all = run_elastic(patient, jobs, four);
  EXPECT_EQ(all.stopped, 0);
  EXPECT_LT(stopped.completion_s, 0.5 * all.completion_s);
}

TEST(ElasticRun, UnitsThatOneGotMoreAnotherIsOwed) {
  const auto losses = std::make_shared<const LossSteps>(LossSteps{1, 0});
  const std::vector<ElasticJob> jobs = {{0, 3 * 120, losses, 1}, {0, 120, losses, 2}};
  const auto unequal = [](auto tasks, const auto&) {
    return tasks.size() == 2 ? std::vector<int>{3, 1} : std::vector<int>(tasks.size(), 3);
  };
  EXPECT_NEAR(run_elastic({2, 4}, jobs, unequal).owed_unit_min, 2.0 / 2, 1e-9)
      << "one unit for two minutes, of two tasks";
}

}  // namespace
}  // namespace slackline::sim

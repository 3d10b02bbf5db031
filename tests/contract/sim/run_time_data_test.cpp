// How well run times are predicted from the past of real traces: public ones, read from
// $SLACKLINE_SHARED/data (default ../shared/data), in order of time. docs/study/history.md has the
// tables. The bars hold for every virtual cluster, and nothing is tuned to one.
#include <filesystem>

#include <gtest/gtest.h>

#include "sim/backtest.h"
#include "sim/trace_format.h"
#include "support/read_text.h"
#include "support/source_path.h"

namespace slackline::sim {
namespace {

constexpr double kLeastCovered = 0.86;  // nine of ten are promised; families change

std::vector<BacktestRow> backtest_of(const char* file, FamilyRule family) {
  const auto path = test::shared_path("data") / file;
  if (!std::filesystem::exists(path)) return {};
  auto recording = load_recording(test::read_text(path.string()), "auto");
  EXPECT_TRUE(recording) << recording.error().message;
  return backtest(std::move(recording->jobs), family);
}

class RunTimesOfRealTraces : public ::testing::TestWithParam<std::pair<const char*, FamilyRule>> {};

TEST_P(RunTimesOfRealTraces, HistoryIsNearestAndCoversWhatItPromises) {
  const std::vector<BacktestRow> rows = backtest_of(GetParam().first, GetParam().second);
  if (rows.empty())
    GTEST_SKIP() << "SKIPPED: no " << GetParam().first
                 << " in ../shared/data or $SLACKLINE_SHARED/data: "
                 << "run times from history were NOT checked against real traces";
  const std::size_t rules = GetParam().second == FamilyRule::kModel ? 5 : 4;
  for (std::size_t i = 0; i + rules <= rows.size(); i += rules) {
    const BacktestRow& history = rows[i];
    ASSERT_EQ(history.rule, RunTimeRule::kHistory);
    EXPECT_GT(history.said, 0.9) << history.cluster;
    EXPECT_GE(history.covered, kLeastCovered) << history.cluster;
    for (std::size_t other = i + 1; other < i + 4; ++other)
      EXPECT_LE(history.median_factor, rows[other].median_factor)
          << history.cluster << " " << to_string(rows[other].rule);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Traces, RunTimesOfRealTraces,
    ::testing::Values(std::pair{"philly/philly-two-clusters.csv", FamilyRule::kCluster},
                      std::pair{"chronus/trace_job_Philly_SLO.csv", FamilyRule::kCluster},
                      std::pair{"chronus/trace_job_Philly_SLO.csv", FamilyRule::kModel}));

}  // namespace
}  // namespace slackline::sim

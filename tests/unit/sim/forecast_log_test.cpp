// What the forecasts of a run are written as.
#include "sim/forecast_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slackline/base/text.h"

namespace slackline::sim {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// One GPU, an exact model, three tasks of an hour: one runs, one waits, one is still to come.
class ForecastLogTest : public ::testing::Test {
 protected:
  ForecastLogTest() {
    platform_.pools = {{GpuType("K80"), "", 1, 1, 1.0}};
    const auto task = [&](std::int64_t id, double submit_s) {
      const std::vector<core::Estimate> one_gpu = {{0, {1, 1}, 1.0, 3600, 30}};
      return prepare_task({id, submit_s, "lstm", 8, 1, QosClass::kNormal, 1e6, 1}, one_gpu,
                          platform_);
    };
    tasks_ = core::TaskTable({task(7, 0), task(8, 600), task(9, 1200)});
  }

  std::string forecasts(const ForecastTimes& times) {
    ForecastLog log(tasks_, policy_, times);
    SimulationOptions options;
    options.keep_events = true;
    options.watch = [&](const core::PlanState& state, double now_s) {
      log.watch(state, now_s);
      return true;
    };
    const Outcome outcome = simulate(tasks_, platform_, policy_, {}, options);
    return format_forecasts_csv(tasks_, outcome, log.rows());
  }

  Platform platform_;
  core::TaskTable tasks_;
  core::Policy policy_ = *core::parse_policy("fifo");
};

TEST_F(ForecastLogTest, StandsBesideWhatHappened) {
  const std::string csv = forecasts({.from_s = 600, .until_s = 700});
  const std::vector<std::string_view> lines = split(csv, '\n');
  ASSERT_EQ(lines.size(), 4U) << csv;  // the last one is empty
  EXPECT_THAT(std::string(lines[0]), StartsWith("made_s,task,phase,start_p10,start_p20,"));
  EXPECT_THAT(std::string(lines[0]), HasSubstr(",start_p90,start_s,finish_p10,"));
  EXPECT_THAT(std::string(lines[0]), HasSubstr(",finish_s,deadline_s,chance"));
  const std::string waiting(lines[1]);
  EXPECT_THAT(waiting, StartsWith("600.000,8,waiting,3630.000,"));
  EXPECT_THAT(waiting, HasSubstr(",3630.000,7260.000,")) << "its start, as it happened";
  const std::string running(lines[2]);
  EXPECT_THAT(running, StartsWith("600.000,7,running,0.000,"));
  EXPECT_THAT(running, EndsWith(",3630.000,3630.000,1000000.000,1.0000"))
      << "its end, as it happened, its deadline and the chance to meet it";
}

TEST_F(ForecastLogTest, AsksAgainAndAgainWhileTasksArrive) {
  const auto rows = [&](const ForecastTimes& times) {
    return split(forecasts(times), '\n').size() - 2;
  };
  EXPECT_EQ(rows({.from_s = 0, .every_s = 600}), 1U + 2U + 3U);
  EXPECT_EQ(rows({.from_s = 0, .every_s = 900}), 1U + 3U) << "nothing happens at 900 s";
  EXPECT_EQ(rows({.from_s = 1300}), 0U) << "nobody comes any more";
}

}  // namespace
}  // namespace slackline::sim

// Forecasts against what then happened, in simulated days whose run times the model gets wrong.
#include <algorithm>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "sim/forecast_log.h"
#include "sim/generate.h"
#include "support/source_path.h"
#include "wire/samples/profile_codec.h"

namespace slackline::sim {
namespace {

TEST(ForecastProperty, EightIntervalsInTenHold) {
  std::ifstream file(test::source_path("manifests/profiles/k80.json"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto entries = wire::read_profile(text, "k80.json");
  ASSERT_TRUE(entries) << entries.error().message;
  const WorkloadProfiles profiles(*entries);
  Platform platform;
  platform.pools = {{GpuType("K80"), "", 4, 4, 1.0}};
  const auto policy = core::parse_policy("default");
  int inside = 0;
  int all = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    GenerateOptions options;
    options.rate_per_h = 9;
    options.hours = 72;
    options.seed = seed;
    options.gpu_type = GpuType("K80");
    const auto trace =
        generate_paper000(options, default_draw_ranges(profiles, options.gpu_type), profiles);
    ASSERT_TRUE(trace) << trace.error().message;
    const auto tasks = prepare(*trace, profiles, platform);
    ASSERT_TRUE(tasks) << tasks.error().message;
    const Noise noise = draw_noise(*tasks, platform.pools, 0.15, seed);
    // Every two hours of the second day.
    ForecastLog log(*tasks, *policy, {24 * 3600.0, 40 * 3600.0, 2 * 3600.0});
    SimulationOptions watched;
    watched.watch = [&](const core::PlanState& state, double now_s) {
      log.watch(state, now_s);
      return true;
    };
    const Outcome outcome = simulate(*tasks, platform, *policy, noise, watched);
    for (const ForecastRow& row : log.rows()) {
      const core::Quantiles& expected_s = row.forecast.finish_s;
      const double finish_s = outcome.tasks[row.forecast.task].finish_s;
      ASSERT_TRUE(std::is_sorted(expected_s.deciles.begin(), expected_s.deciles.end()));
      ASSERT_LE(row.forecast.start_s.p50(), expected_s.p50());
      inside += finish_s >= expected_s.p10() && finish_s <= expected_s.p90() ? 1 : 0;
      ++all;
    }
  }
  ASSERT_GT(all, 400);
  RecordProperty("coverage_percent", 100 * inside / all);
  EXPECT_GE(100.0 * inside / all, 75) << inside << " of " << all;
  EXPECT_LE(100.0 * inside / all, 85) << inside << " of " << all;
}

}  // namespace
}  // namespace slackline::sim

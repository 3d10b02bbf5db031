// Forecasts against what then happened, in simulated days whose run times the model gets wrong.
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "sim/engine.h"
#include "sim/generate.h"
#include "slackline/core/rollout.h"
#include "wire/profile_codec.h"

namespace slackline::sim {
namespace {

// Forecasts of everything that waits or runs, every two hours of the second day, as somebody would
// get them who knows yesterday's arrivals.
std::vector<core::Forecast> forecasts_of(const core::TaskTable& tasks, const Platform& platform,
                                         const core::Policy& policy, const Noise& noise,
                                         Outcome& outcome) {
  std::vector<core::Forecast> forecasts;
  double next_s = 24 * 3600;
  SimulationOptions options;
  options.watch = [&](const core::PlanState& state, double now_s) {
    if (now_s < next_s || now_s > 40 * 3600) return true;
    next_s = now_s + 2 * 3600;
    core::RolloutOptions rollout;
    for (const core::PlanTask& task : tasks.tasks())
      if (task.submit_s <= now_s && task.submit_s > now_s - rollout.window_s)
        rollout.expected.push_back(task);
    std::vector<core::TaskIndex> asked(state.waiting().begin(), state.waiting().end());
    asked.insert(asked.end(), state.running().begin(), state.running().end());
    for (const core::Forecast& forecast : core::rollout(state, now_s, policy, asked, rollout))
      forecasts.push_back(forecast);
    return true;
  };
  outcome = simulate(tasks, platform, policy, noise, options);
  return forecasts;
}

TEST(ForecastProperty, EightIntervalsInTenHold) {
  std::ifstream file(SLACKLINE_SOURCE_DIR "/manifests/profiles/k80.json");
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
    Outcome outcome;
    for (const auto& forecast : forecasts_of(*tasks, platform, *policy, noise, outcome)) {
      const double finish_s = outcome.tasks[forecast.task].finish_s;
      ASSERT_LE(forecast.finish_s.p10, forecast.finish_s.p50);
      ASSERT_LE(forecast.finish_s.p50, forecast.finish_s.p90);
      ASSERT_LE(forecast.start_s.p50, forecast.finish_s.p50);
      inside += finish_s >= forecast.finish_s.p10 && finish_s <= forecast.finish_s.p90 ? 1 : 0;
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

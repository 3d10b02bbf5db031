#include "obs/metrics.h"

#include <regex>
#include <sstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace slackline::obs {
namespace {

std::size_t lines_starting_with(const std::string& text, const std::string& start) {
  std::istringstream lines(text);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(start)) ++count;
  return count;
}

TEST(Metrics, TheSameNameAndLabelsAreTheSameSeries) {
  MetricsRegistry registry;
  registry.counter("slackline_binds_total", "Binds.", {{"result", "ok"}}).add(2);
  registry.counter("slackline_binds_total", "Binds.", {{"result", "ok"}}).add();
  EXPECT_NE(registry.expose().find("slackline_binds_total{result=\"ok\"} 3\n"), std::string::npos);
}

TEST(Metrics, AFamilyStopsGrowingAtTwoHundredSeries) {
  MetricsRegistry registry;
  for (int i = 0; i < 100'000; ++i)
    registry.counter("slackline_odd_total", "Odd.", {{"name", std::to_string(i)}}).add();
  const std::string text = registry.expose();
  EXPECT_EQ(lines_starting_with(text, "slackline_odd_total{"), 200U);
  EXPECT_NE(text.find("slackline_odd_total{name=\"other\"} 99801\n"), std::string::npos);
}

TEST(Metrics, TheCapHoldsForHistogramsAndEachFamilyHasItsOwn) {
  MetricsRegistry registry;
  for (int i = 0; i < 300; ++i) {
    registry.histogram("slackline_a_seconds", "A.", {0.1, 1}, {{"verb", std::to_string(i)}})
        .observe(0.5);
    registry.gauge("slackline_b", "B.", {{"name", std::to_string(i)}}).set(1);
  }
  const std::string text = registry.expose();
  EXPECT_EQ(lines_starting_with(text, "slackline_a_seconds_count{"), 200U);
  EXPECT_EQ(lines_starting_with(text, "slackline_b{"), 200U);
}

TEST(Metrics, AFamilyMaySayHowManySeriesItKeeps) {
  MetricsRegistry registry;
  for (int i = 0; i < 2'000; ++i)
    registry.counter("slackline_wide_total", "W.", {{"name", std::to_string(i)}}, 901).add();
  EXPECT_EQ(lines_starting_with(registry.expose(), "slackline_wide_total{"), 901U);
}

TEST(Metrics, EveryLineOfTheExpositionIsWellFormed) {
  MetricsRegistry registry;
  registry.counter("slackline_z_total", "Last by name.", {{"reason", "a\"b\\c\nd"}}).add();
  registry.gauge("slackline_g", "A gauge.").set(-1.5);
  registry.histogram("slackline_h_seconds", "A histogram.", latency_bounds_s()).observe(0.0003);
  const std::string text = registry.expose();
  const std::regex comment("# (HELP|TYPE) [a-z_]+ .*");
  const std::regex sample(
      R"re([a-z_]+(\{([a-z_]+="([^"\\\n]|\\["\\n])*",?)+\})? -?(\d+(\.\d+)?(e[+-]\d+)?|\+Inf))re");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_TRUE(std::regex_match(line, line.starts_with('#') ? comment : sample)) << line;
  EXPECT_NE(text.find("slackline_h_seconds_bucket{le=\"+Inf\"} 1\n"), std::string::npos);
  EXPECT_LT(text.find("slackline_g "), text.find("slackline_z_total"));
}

TEST(Metrics, ThreadsMayCountWhileAnotherReads) {
  MetricsRegistry registry;
  const auto count = [&registry] {
    for (int i = 0; i < 1'000; ++i)
      registry.counter("slackline_shared_total", "Shared.", {{"i", std::to_string(i % 7)}}).add();
  };
  std::thread first(count);
  std::thread second(count);
  for (int i = 0; i < 20; ++i)
    EXPECT_LE(registry.expose().size(), 1'000U);
  first.join();
  second.join();
  EXPECT_EQ(lines_starting_with(registry.expose(), "slackline_shared_total{"), 7U);
}

TEST(MetricsDeathTest, OneNameIsOneKind) {
  MetricsRegistry registry;
  registry.counter("slackline_x_total", "X.");
  EXPECT_DEATH(registry.gauge("slackline_x_total", "X."), "slackline_x_total");
}

}  // namespace
}  // namespace slackline::obs

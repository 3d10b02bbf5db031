#include "obs/metrics.h"

#include <array>
#include <regex>
#include <set>
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

constexpr auto kList = std::to_array<ListedMetric>({
    {"slackline_binds_total", MetricKind::kCounter, "result", "Binds.", ""},
    {"slackline_odd_total", MetricKind::kCounter, "name", "Odd.", ""},
    {"slackline_wide_total", MetricKind::kCounter, "name", "Wide.", ""},
    {"slackline_a_seconds", MetricKind::kHistogram, "verb", "A.", ""},
    {"slackline_b", MetricKind::kGauge, "name", "B.", ""},
    {"slackline_z_total", MetricKind::kCounter, "reason", "Last by name.", ""},
    {"slackline_g", MetricKind::kGauge, "", "A gauge.", ""},
    {"slackline_h_seconds", MetricKind::kHistogram, "", "A histogram.", ""},
    {"slackline_shared_total", MetricKind::kCounter, "i", "Shared.", ""},
    {"slackline_x_total", MetricKind::kCounter, "", "X.", ""},
    {"slackline_calls_total", MetricKind::kCounter, "verb=filter|bind,result=ok|bad", "Calls.", ""},
});

TEST(Metrics, TheSameNameAndLabelsAreTheSameSeries) {
  MetricsRegistry registry(kList);
  registry.counter("slackline_binds_total", {{"result", "ok"}}).add(2);
  registry.counter("slackline_binds_total", {{"result", "ok"}}).add();
  EXPECT_NE(registry.expose().find("slackline_binds_total{result=\"ok\"} 3\n"), std::string::npos);
}

TEST(Metrics, AFamilyStopsGrowingAtTwoHundredSeries) {
  MetricsRegistry registry(kList);
  for (int i = 0; i < 100'000; ++i)
    registry.counter("slackline_odd_total", {{"name", std::to_string(i)}}).add();
  const std::string text = registry.expose();
  EXPECT_EQ(lines_starting_with(text, "slackline_odd_total{"), 200U);
  EXPECT_NE(text.find("slackline_odd_total{name=\"other\"} 99801\n"), std::string::npos);
}

TEST(Metrics, TheCapHoldsForHistogramsAndEachFamilyHasItsOwn) {
  MetricsRegistry registry(kList);
  for (int i = 0; i < 300; ++i) {
    registry.histogram("slackline_a_seconds", {0.1, 1}, {{"verb", std::to_string(i)}}).observe(0.5);
    registry.gauge("slackline_b", {{"name", std::to_string(i)}}).set(1);
  }
  const std::string text = registry.expose();
  EXPECT_EQ(lines_starting_with(text, "slackline_a_seconds_count{"), 200U);
  EXPECT_EQ(lines_starting_with(text, "slackline_b{"), 200U);
}

TEST(Metrics, AFamilyMaySayHowManySeriesItKeeps) {
  MetricsRegistry registry(kList);
  for (int i = 0; i < 2'000; ++i)
    registry.counter("slackline_wide_total", {{"name", std::to_string(i)}}, 901).add();
  EXPECT_EQ(lines_starting_with(registry.expose(), "slackline_wide_total{"), 901U);
}

TEST(Metrics, EveryLineOfTheExpositionIsWellFormed) {
  MetricsRegistry registry(kList);
  registry.counter("slackline_z_total", {{"reason", "a\"b\\c\nd"}}).add();
  registry.gauge("slackline_g").set(-1.5);
  registry.histogram("slackline_h_seconds", latency_bounds_s()).observe(0.0003);
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
  MetricsRegistry registry(kList);
  const auto count = [&registry] {
    for (int i = 0; i < 1'000; ++i)
      registry.counter("slackline_shared_total", {{"i", std::to_string(i % 7)}}).add();
  };
  std::thread first(count);
  std::thread second(count);
  for (int i = 0; i < 20; ++i)
    EXPECT_LE(registry.expose().size(), 1'000U);
  first.join();
  second.join();
  EXPECT_EQ(lines_starting_with(registry.expose(), "slackline_shared_total{"), 7U);
}

TEST(Metrics, ACounterWhoseLabelsAreKnownIsThereFromTheStart) {
  const std::string text = MetricsRegistry(kList).expose();
  EXPECT_NE(text.find("slackline_x_total 0\n"), std::string::npos);
  EXPECT_EQ(lines_starting_with(text, "slackline_calls_total{"), 4U);
  EXPECT_NE(text.find("slackline_calls_total{result=\"bad\",verb=\"filter\"} 0\n"),
            std::string::npos);
  EXPECT_EQ(lines_starting_with(text, "slackline_binds_total"), 0U);
}

TEST(Metrics, AnUnlistedValueOfALabelIsOther) {
  MetricsRegistry registry(kList);
  for (const char* result : {"worse", "worst"})
    registry.counter("slackline_calls_total", {{"verb", "bind"}, {"result", result}}).add();
  EXPECT_NE(registry.expose().find("slackline_calls_total{result=\"other\",verb=\"bind\"} 2\n"),
            std::string::npos);
}

TEST(Metrics, TheListNamesAMetricOnce) {
  std::set<std::string_view> names;
  for (const ListedMetric& metric : listed_metrics()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_EQ(metric.name.ends_with("_total"), metric.kind == MetricKind::kCounter) << metric.name;
  }
}

TEST(MetricsDeathTest, AMetricIsUsedAsItIsListed) {
  MetricsRegistry registry(kList);
  EXPECT_DEATH(registry.gauge("slackline_unheard_of"), "slackline_unheard_of: it is not in");
  EXPECT_DEATH(registry.gauge("slackline_b", {{"node", "a"}}), "slackline_b: .* other labels");
  EXPECT_DEATH(registry.gauge("slackline_b"), "slackline_b: .* other labels");
}

TEST(MetricsDeathTest, OneNameIsOneKind) {
  MetricsRegistry registry(kList);
  registry.counter("slackline_x_total");
  EXPECT_DEATH(registry.gauge("slackline_x_total"), "slackline_x_total");
}

}  // namespace
}  // namespace slackline::obs

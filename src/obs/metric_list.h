// The one list of metrics. MetricsRegistry knows no others, and docs/METRICS.md is made of it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace slackline::obs {

enum class MetricKind : std::uint8_t { kCounter, kGauge, kHistogram };

struct ListedMetric {
  std::string_view name;
  MetricKind kind = MetricKind::kGauge;
  std::string_view labels;  // "verb=filter|bind,queue": a label with `=` has these values only
  std::string_view help;
  std::string_view look_at;  // what an operator should notice, in Markdown
};

std::span<const ListedMetric> listed_metrics();

}  // namespace slackline::obs

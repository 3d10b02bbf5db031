#include "wire/format/bar_svg.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "slackline/base/text.h"
#include "wire/format/svg.h"

namespace slackline::wire {
namespace {

constexpr double kLabels = 230;  // their width
constexpr double kBars = 470;
constexpr double kBehind = 220;  // for the text
constexpr double kBarHeight = 9;
constexpr double kRowGap = 12;
constexpr double kAxis = 40;
constexpr double kTextDown = 4;  // from the middle of a text to its base
constexpr std::size_t kLabelBytes = 30;

constexpr double kColumnsLeft = 64;
constexpr double kColumnsWidth = 820;
constexpr double kColumnsTop = 12;
constexpr double kColumnsHeight = 200;
constexpr double kLabelWidth = 76;
constexpr double kWidestColumn = 48;

double greatest(const BarChart& chart) {
  double most = 0;
  for (const BarRow& row : chart.rows)
    for (const Bar& bar : row.bars)
      most = std::max(most, bar.value);
  return most;
}

// 1, 2 or 5 times a power of ten, for at most five steps.
double step_of(double most) {
  const double power = std::pow(10.0, std::floor(std::log10(most / 5)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (most / (factor * power) <= 5) return factor * power;
  return 10 * power;
}

std::vector<double> ticks_until(double most) {
  const double step = step_of(most);
  std::vector<double> ticks;
  for (int i = 0; i * step <= most * (1 + 1e-9); ++i)
    ticks.push_back(i * step);
  return ticks;
}

double end_of_axis(const BarChart& chart) {
  if (chart.most > 0) return chart.most;
  const double most = greatest(chart);
  return most > 0 && std::isfinite(most) ? most : 1;
}

std::string shortened(const std::string& label) {
  return printable(label, kLabelBytes);
}

}  // namespace

std::string bar_chart(const BarChart& chart) {
  double height = kAxis;
  for (const BarRow& row : chart.rows)
    height += static_cast<double>(row.bars.size()) * kBarHeight + kRowGap;
  const double bottom = height - kAxis;
  const double most = end_of_axis(chart);
  const auto x = [&](double value) { return kLabels + kBars * std::min(value / most, 1.0); };
  Svg svg(kLabels + kBars + kBehind, height, chart.title, chart.description, chart.id);
  for (const double tick : ticks_until(most)) {
    svg.line(x(tick), 0, x(tick), bottom, tick == 0 ? "axis" : "grid");
    svg.text(x(tick), bottom + 16, "tick", format("{:g}", tick));
  }
  svg.text(kLabels + kBars / 2, bottom + 32, "tick", chart.unit);
  double y = kRowGap / 2;
  for (const BarRow& row : chart.rows) {
    const double rows_height = static_cast<double>(row.bars.size()) * kBarHeight;
    const double middle = y + rows_height / 2 + kTextDown;
    svg.text(kLabels - 8, middle, "label", shortened(row.label));
    double longest = 0;
    for (const Bar& bar : row.bars) {
      svg.rect(kLabels, y, std::max(0.0, x(bar.value) - kLabels), kBarHeight - 1, bar.css_class,
               bar.tooltip);
      longest = std::max(longest, bar.value);
      y += kBarHeight;
    }
    svg.text(x(longest) + 6, middle, "value", row.text);
    y += kRowGap;
  }
  return svg.str();
}

std::string column_chart(const BarChart& chart) {
  const double most = end_of_axis(chart);
  const double bottom = kColumnsTop + kColumnsHeight;
  const auto y = [&](double value) {
    return bottom - kColumnsHeight * std::min(value / most, 1.0);
  };
  Svg svg(kColumnsLeft + kColumnsWidth, bottom + 28, chart.title, chart.description, chart.id);
  for (const double tick : ticks_until(most)) {
    svg.line(kColumnsLeft, y(tick), kColumnsLeft + kColumnsWidth, y(tick),
             tick == 0 ? "axis" : "grid");
    svg.text(kColumnsLeft - 8, y(tick) + kTextDown, "label", format("{:g}", tick));
  }
  svg.text(16, kColumnsTop + kColumnsHeight / 2, "tick", chart.unit, -90);
  const double slot = kColumnsWidth / std::max<double>(1, static_cast<double>(chart.rows.size()));
  const double width = std::min(kWidestColumn, 0.8 * slot);
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(kLabelWidth / slot)));
  for (std::size_t i = 0; i < chart.rows.size(); ++i) {
    const double middle = kColumnsLeft + slot * (static_cast<double>(i) + 0.5);
    for (const Bar& bar : chart.rows[i].bars)
      svg.rect(middle - width / 2, y(bar.value), width, bottom - y(bar.value), bar.css_class,
               bar.tooltip);
    if (i % every == 0) svg.text(middle, bottom + 18, "tick", shortened(chart.rows[i].label));
  }
  return svg.str();
}

}  // namespace slackline::wire

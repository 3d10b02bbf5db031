#include "wire/format/scatter_svg.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "slackline/base/text.h"
#include "wire/format/svg.h"

namespace slackline::wire {
namespace {

constexpr double kLeft = 84;
constexpr double kTop = 48;
constexpr double kSide = 480;  // of the square with the points
constexpr double kBottom = 64;
constexpr double kLegend = 220;
constexpr double kLegendStep = 20;
constexpr double kMarker = 3.6;  // half of a marker's width
constexpr double kBand = 0.10;
constexpr std::size_t kColours = 7;
constexpr std::size_t kShapes = 5;

// Okabe and Ito's palette: the colour-blind can tell them apart, on white and on black.
constexpr std::string_view kStyle =
    "text{font:12px system-ui,sans-serif;fill:#333}"
    ".h{font-size:15px;font-weight:600}.m{text-anchor:middle}.e{text-anchor:end}"
    ".f{fill:#fff}.g{stroke:#ddd}.d{stroke:#777}.b{fill:#8882}"
    ".c0{fill:#0072b2}.c1{fill:#d55e00}.c2{fill:#009e73}.c3{fill:#cc79a7}.c4{fill:#e69f00}"
    ".c5{fill:#56b4e9}.c6{fill:#a0522d}.p{fill-opacity:.65}"
    "@media(prefers-color-scheme:dark){.f{fill:#111}text{fill:#ddd}.g{stroke:#333}}";

bool drawable(const ScatterPoint& point) {
  return point.measured > 0 && std::isfinite(point.measured) && point.predicted > 0 &&
         std::isfinite(point.predicted);
}

// Both axes: log10 of the least and the largest value, with some room.
struct Range {
  double low = 0;
  double high = 1;

  double at(double value) const { return kSide * (std::log10(value) - low) / (high - low); }
  double x(double value) const { return kLeft + at(value); }
  double y(double value) const { return kTop + kSide - at(value); }
};

Range range_of(const ScatterPlot& plot) {
  constexpr double kRoom = 0.05;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (const ScatterSeries& series : plot.series)
    for (const ScatterPoint& point : series.points) {
      if (!drawable(point)) continue;
      low = std::min({low, std::log10(point.measured), std::log10(point.predicted)});
      high = std::max({high, std::log10(point.measured), std::log10(point.predicted)});
    }
  if (low > high) return {};
  return {low - kRoom, high + kRoom};
}

// 1, 2, 5, 10 ... in the range; whole powers of ten alone where those are many.
std::vector<double> ticks_of(const Range& range) {
  const bool fine = range.high - range.low < 3;
  std::vector<double> ticks;
  for (int power = static_cast<int>(std::floor(range.low)); power <= range.high; ++power)
    for (const double step : {1.0, 2.0, 5.0}) {
      const double tick = step * std::pow(10.0, power);
      if ((fine || step == 1.0) && std::log10(tick) >= range.low && std::log10(tick) <= range.high)
        ticks.push_back(tick);
    }
  return ticks;
}

std::string marker(std::size_t shape, double x, double y) {
  const auto at = [&](double dx, double dy) {
    return svg_number(x + dx * kMarker) + " " + svg_number(y + dy * kMarker);
  };
  switch (shape % kShapes) {
    case 0: {  // circle
      const std::string r = svg_number(kMarker);
      return format("M{}A{} {} 0 1 0 {}A{} {} 0 1 0 {}Z", at(-1, 0), r, r, at(1, 0), r, r,
                    at(-1, 0));
    }
    case 1:  // square
      return format("M{}L{}L{}L{}Z", at(-.9, -.9), at(.9, -.9), at(.9, .9), at(-.9, .9));
    case 2:  // triangle
      return format("M{}L{}L{}Z", at(0, -1.2), at(1.1, .9), at(-1.1, .9));
    case 3:  // diamond
      return format("M{}L{}L{}L{}Z", at(0, -1.3), at(1.3, 0), at(0, 1.3), at(-1.3, 0));
    default:  // triangle on its head
      return format("M{}L{}L{}Z", at(0, 1.2), at(1.1, -.9), at(-1.1, -.9));
  }
}

void draw_axes(Svg& svg, const Range& range, const ScatterPlot& plot) {
  svg.rect(kLeft, kTop, kSide, kSide, "f");
  for (const double tick : ticks_of(range)) {
    const std::string label = format("{:g}", tick);
    svg.line(range.x(tick), kTop, range.x(tick), kTop + kSide, "g");
    svg.line(kLeft, range.y(tick), kLeft + kSide, range.y(tick), "g");
    svg.text(range.x(tick), kTop + kSide + 18, "m", label);
    svg.text(kLeft - 8, range.y(tick) + 4, "e", label);
  }
  svg.text(kLeft + kSide / 2, kTop + kSide + 44, "m", "measured, " + plot.unit);
  svg.text(22, kTop + kSide / 2, "m", "predicted, " + plot.unit, -90);
  svg.text(kLeft, kTop - 18, "h", plot.title);
}

// Predicted within 10 % of measured; between the edges of the square, hence six corners.
void draw_band(Svg& svg, const Range& range) {
  const double low = std::pow(10.0, range.low);
  const double high = std::pow(10.0, range.high);
  const auto corner = [&](double measured, double predicted) {
    return svg_number(range.x(measured)) + " " + svg_number(range.y(predicted));
  };
  svg.path(format("M{}L{}L{}L{}L{}L{}Z", corner(low, low), corner(low, low * (1 + kBand)),
                  corner(high / (1 + kBand), high), corner(high, high),
                  corner(high, high * (1 - kBand)), corner(low / (1 - kBand), low)),
           "b");
  svg.line(range.x(low), range.y(low), range.x(high), range.y(high), "d");
}

}  // namespace

std::string scatter_svg(const ScatterPlot& plot) {
  const Range range = range_of(plot);
  const double legend_end = kTop + kLegendStep * (static_cast<double>(plot.series.size()) + 2);
  Svg svg(kLeft + kSide + kLegend, std::max(kTop + kSide + kBottom, legend_end), plot.title,
          format("Predicted against measured {} of {} models, both axes logarithmic. Points on the "
                 "diagonal are predicted exactly, those in the band within 10 %.",
                 plot.unit, plot.series.size()));
  svg.style(kStyle);
  draw_axes(svg, range, plot);
  draw_band(svg, range);
  const double legend_x = kLeft + kSide + 22;
  double legend_y = kTop + kLegendStep;
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const ScatterSeries& series = plot.series[i];
    // The shape steps on after each round of colours, so that 35 series differ in one of the two.
    const std::size_t shape = i + i / kColours;
    const std::string colour = format("c{}", i % kColours);
    std::string data;
    for (const ScatterPoint& point : series.points)
      if (drawable(point)) data += marker(shape, range.x(point.measured), range.y(point.predicted));
    if (!data.empty()) svg.path(data, colour + " p", series.name);
    svg.path(marker(shape, legend_x, legend_y - 4), colour);
    svg.text(legend_x + 12, legend_y, "", format("{} ({})", series.name, series.points.size()));
    legend_y += kLegendStep;
  }
  svg.text(legend_x - 4, legend_y, "", "band: within 10 %");
  return svg.str();
}

}  // namespace slackline::wire

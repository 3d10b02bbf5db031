#include "sim/completion_svg.h"

#include <algorithm>
#include <cmath>

#include "slackline/base/text.h"
#include "wire/format/svg.h"

namespace slackline::sim {
namespace {

constexpr double kCurveLeft = 64;
constexpr double kCurveTop = 48;
constexpr double kCurveWidth = 640;
constexpr double kHeight = 400;
constexpr double kCurveBottom = 60;
constexpr double kLegend = 200;
constexpr double kLeast_h = 1.0 / 60;  // tasks that are done within a minute begin the curve
constexpr int kLooks = 8;

constexpr std::string_view kCurveStyle =
    "text{font:12px system-ui,sans-serif;fill:#333}.h{font-size:15px;font-weight:600}"
    ".m{text-anchor:middle}.e{text-anchor:end}.f{fill:#fff}.g{stroke:#ddd}"
    "path{fill:none;stroke-width:2}"
    ".c0{stroke:#0072b2}.c1{stroke:#d55e00;stroke-dasharray:8 "
    "3}.c2{stroke:#009e73;stroke-dasharray:"
    "2 2}.c3{stroke:#cc79a7;stroke-dasharray:8 3 2 3}.c4{stroke:#e69f00}.c5{stroke:#56b4e9;"
    "stroke-dasharray:8 3}.c6{stroke:#a0522d;stroke-dasharray:2 2}.c7{stroke:#333}";

std::vector<double> completion_hours(const core::TaskTable& tasks, const Outcome& outcome) {
  std::vector<double> hours;
  for (core::TaskIndex task = 0; task < tasks.size(); ++task)
    if (outcome.tasks[task].finished)
      hours.push_back((outcome.tasks[task].finish_s - tasks[task].submit_s) / 3600);
  std::sort(hours.begin(), hours.end());
  return hours;
}

class Plot {
 public:
  Plot(std::string_view title, std::string_view description, double most_h)
      : most_h_(most_h),
        svg_(kCurveLeft + kCurveWidth + kLegend, kCurveTop + kHeight + kCurveBottom, title,
             description) {
    svg_.style(kCurveStyle)
        .text(kCurveLeft, 24, "h", title)
        .rect(kCurveLeft, kCurveTop, kCurveWidth, kHeight, "f");
    draw_axes();
  }

  // `share` is what one task counts.
  void draw_curve(const std::string& name, const std::vector<double>& hours, double share) {
    const std::string look = format("c{}", curves_ % kLooks);
    std::string path = format("M{} {}", wire::svg_number(x(0)), wire::svg_number(y(0)));
    double done = 0;
    for (const double at : hours)
      path += format("H{}V{}", wire::svg_number(x(at)), wire::svg_number(y(++done * share)));
    svg_.path(path, look, name);
    const double legend_y = kCurveTop + 14 + 20.0 * curves_;
    svg_.path(format("M{} {}h28", kCurveLeft + kCurveWidth + 14, legend_y), look);
    svg_.text(kCurveLeft + kCurveWidth + 48, legend_y + 4, "", name);
    ++curves_;
  }

  std::string str() const { return svg_.str(); }

 private:
  double x(double hours) const {
    return kCurveLeft + kCurveWidth * std::log(std::max(hours, kLeast_h) / kLeast_h) /
                            std::log(most_h_ / kLeast_h);
  }
  static double y(double share) { return kCurveTop + kHeight * (1 - share); }

  void draw_axes() {
    for (int power = -2; std::pow(10.0, power) <= most_h_; ++power)
      for (const double step : {1.0, 2.0, 5.0}) {
        const double hours = std::pow(10.0, power) * step;
        if (hours < kLeast_h || hours > most_h_) continue;
        svg_.line(x(hours), kCurveTop, x(hours), kCurveTop + kHeight, "g");
        svg_.text(x(hours), kCurveTop + kHeight + 16, "m", format("{:g}", hours));
      }
    for (int percent = 0; percent <= 100; percent += 20) {
      svg_.line(kCurveLeft, y(percent / 100.0), kCurveLeft + kCurveWidth, y(percent / 100.0), "g");
      svg_.text(kCurveLeft - 8, y(percent / 100.0) + 4, "e", format("{} %", percent));
    }
    svg_.text(kCurveLeft + kCurveWidth / 2, kCurveTop + kHeight + 40, "m",
              "hours from submission to finish");
  }

  double most_h_;
  int curves_ = 0;
  wire::Svg svg_;
};

}  // namespace

std::string completion_svg(const core::TaskTable& tasks,
                           const std::vector<std::pair<std::string, Outcome>>& runs,
                           std::string_view title) {
  std::vector<std::vector<double>> curves;
  double most_h = 10 * kLeast_h;
  for (const auto& [name, outcome] : runs) {
    curves.push_back(completion_hours(tasks, outcome));
    if (!curves.back().empty()) most_h = std::max(most_h, curves.back().back());
  }
  Plot plot(title,
            format("Share of {} tasks done within a time after their submission, for {} policies; "
                   "time is logarithmic.",
                   tasks.size(), runs.size()),
            most_h);
  for (std::size_t i = 0; i < runs.size(); ++i)
    plot.draw_curve(runs[i].first, curves[i], 1 / static_cast<double>(tasks.size()));
  return plot.str();
}

}  // namespace slackline::sim

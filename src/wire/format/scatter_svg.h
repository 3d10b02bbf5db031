// Predicted against measured, as a drawing: both axes logarithmic over the same range, the diagonal
// with a band of 10 % around it, one colour and one shape per series, a legend.
#pragma once

#include <string>
#include <vector>

namespace slackline::wire {

struct ScatterPoint {
  double measured = 0;
  double predicted = 0;
};

struct ScatterSeries {
  std::string name;  // for the legend
  std::vector<ScatterPoint> points;
};

struct ScatterPlot {
  std::string title;
  std::string unit;  // of both axes
  std::vector<ScatterSeries> series;
};

// Points that are not positive and finite are ignored; without any, the axes reach from 1 to 10.
std::string scatter_svg(const ScatterPlot& plot);

}  // namespace slackline::wire

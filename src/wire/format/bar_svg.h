// Bar charts as SVG, to be part of an HTML page that defines their look by classes:
//   .label text of a row, right-aligned   .value text behind a bar   .tick text of the axis
//   .grid lines   .axis line; bars have the classes that they name
#pragma once

#include <string>
#include <vector>

namespace slackline::wire {

struct Bar {
  double value = 0;  // >= 0
  std::string css_class;
  std::string tooltip;
};

// One group of horizontal bars below each other, with a text behind the longest.
struct BarRow {
  std::string label;
  std::vector<Bar> bars;
  std::string text;
};

struct BarChart {
  std::string id{};  // unique on its page
  std::string title{};
  std::string description{};
  std::string unit{};  // of the axis: "GPU-hours"
  double most = 0;     // where the axis ends; 0: at the greatest value
  std::vector<BarRow> rows{};
};
std::string bar_chart(const BarChart& chart);

// Columns next to each other, the bars of a row in front of each other: the greatest first.
// Labels are left out where there is no room.
std::string column_chart(const BarChart& chart);

}  // namespace slackline::wire

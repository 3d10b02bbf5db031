#include "wire/format/svg.h"

#include <cstdio>

#include <gtest/gtest.h>

#include "wire/format/json_view.h"
#include "wire/format/scatter_svg.h"
#include "wire/samples/fit_report.h"

namespace slackline::wire {
namespace {

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(Svg, EscapesTextAndClosesElements) {
  Svg svg(10, 20.125, "a < b & \"c\"", "line\nbreak");
  svg.rect(0, 1.006, 2, 3, "r", "5 > 4").line(0, -0.001, 1, 1, "l").text(1, 2, "t", "<b>", 90);
  EXPECT_EQ(svg.str(),
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-labelledby=\"title desc\" "
            "viewBox=\"0 0 10 20.13\" width=\"10\" height=\"20.13\">\n"
            "<title id=\"title\">a &lt; b &amp; &quot;c&quot;</title>\n"
            "<desc id=\"desc\">line break</desc>\n"
            "<rect class=\"r\" x=\"0\" y=\"1.01\" width=\"2\" height=\"3\"><title>5 &gt; 4</title>"
            "</rect>\n"
            "<line class=\"l\" x1=\"0\" y1=\"0\" x2=\"1\" y2=\"1\"/>\n"
            "<text class=\"t\" x=\"1\" y=\"2\" transform=\"rotate(90 1 2)\">&lt;b&gt;</text>\n"
            "</svg>\n");
}

TEST(ScatterSvg, DrawsEveryPointThatCanBeDrawn) {
  const ScatterPlot plot{"models on A100",
                         "samples/s",
                         {{"resnet50", {{100, 110}, {200, 190}, {0, 5}}}, {"bert", {{10, 12}}}}};
  const std::string svg = scatter_svg(plot);
  EXPECT_EQ(count(svg, "class=\"c0 p\""), 1U);
  EXPECT_EQ(count(svg, "class=\"c1 p\""), 1U);
  const std::size_t points = svg.find("class=\"c0 p\"");
  EXPECT_EQ(count(svg.substr(points, svg.find("<title>", points) - points), "Z"), 2U)
      << "a measurement of 0 has no place on a logarithmic axis";
  EXPECT_NE(svg.find("resnet50 (3)"), std::string::npos) << "the legend counts the points";
  EXPECT_EQ(svg, scatter_svg(plot));
}

TEST(ScatterSvg, PutsAnExactPredictionOnTheDiagonal) {
  const std::string svg = scatter_svg({"t", "u", {{"m", {{1, 1}, {100, 100}}}}});
  const std::size_t at = svg.find("<path class=\"c0 p\" d=\"M");
  ASSERT_NE(at, std::string::npos);
  double x = 0;
  double y = 0;
  ASSERT_EQ(std::sscanf(svg.c_str() + at, "<path class=\"c0 p\" d=\"M%lf %lf", &x, &y), 2);
  EXPECT_NEAR((x + 3.6 - 84) + (y - 48), 480, 0.1) << "as far from the left as from the bottom";
}

TEST(ScatterSvg, SurvivesNothingToDraw) {
  EXPECT_NE(scatter_svg({"t", "u", {}}).find("</svg>"), std::string::npos);
  EXPECT_NE(scatter_svg({"t", "u", {{"m", {{-1, 1}}}}}).find("m (1)"), std::string::npos);
}

TEST(FitReport, IsJsonWithNullWhereNothingIsKnown) {
  const std::string json =
      fit_report_json({{"bert", "A100", 14, "A", 3.25, 8.5, 7.0, 15.0, std::nullopt, 75.0},
                       {"lstm", "K80", 2, "", std::nullopt, std::nullopt, std::nullopt,
                        std::nullopt, std::nullopt, std::nullopt}});
  JsonDocument document;
  const auto root = document.parse(json);
  ASSERT_TRUE(root) << json;
  EXPECT_EQ((*root)["models"].items().count(), 2U);
  const JsonView first = *(*root)["models"].items().begin();
  EXPECT_EQ(first["model"].text(), "bert");
  EXPECT_EQ(first["points"].integer(), 14);
  EXPECT_EQ(first["held_out_mape"].number(), 8.5);
  EXPECT_EQ(first["chosen_within_5pct"].number(), 75);
  EXPECT_NE(json.find(R"("noise_floor":null,"chosen_within_5pct":75})"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("points":2,"kind":null,"model_parallel":1)"), std::string::npos);
  EXPECT_EQ(first["model_parallel"].integer(), 1);
  const std::string odd =
      fit_report_json({}, {{"bert", "A100", 64, "2x8", 100, 150.5, "a slow cluster"}});
  ASSERT_TRUE(document.parse(odd)) << odd;
  EXPECT_NE(odd.find(R"("measured":100,"predicted":150.5,"source":"a slow cluster")"),
            std::string::npos)
      << odd;
}

TEST(FitReport, IsATable) {
  EXPECT_EQ(fit_report_table({{"bert", "A100", 14, "A", 3.25, 8.5, 7.0, 15.0, std::nullopt, 75.0}}),
            "MODEL  GPU TYPE  POINTS  KIND  IN-SAMPLE %  HELD-OUT %  MEDIAN %  P90 %  NOISE %  "
            "CHOSE WITHIN 5 %\n"
            "bert   A100          14  A             3.2         8.5       7.0   15.0        -  "
            "            75 %\n");
}

}  // namespace
}  // namespace slackline::wire

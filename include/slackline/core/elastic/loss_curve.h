// What a task's loss was at its iterations, and the curve through it that predicts the next ones.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace slackline::core {

// f(x) of loss = a f(x) + c, with a and c >= 0 and x = iteration / iterations_per_x.
enum class CurveShape {
  kPower,        // (x + d)^-b
  kExponential,  // mu^x
};

std::string_view to_string(CurveShape shape);
std::optional<CurveShape> parse_curve_shape(std::string_view text);

struct LossCurve {
  CurveShape shape = CurveShape::kPower;
  double a = 0;
  double c = 0;
  double exponent = 0;  // b, or ln mu
  double shift = 0;     // d; 0 of kExponential
  double iterations_per_x = 1;

  double loss(double iteration) const;
  // How much the loss falls from one iteration to a later one; never negative.
  double drop(double from, double to) const;
};

class LossHistory {
 public:
  // Fewer points tell nothing about the next ones.
  static constexpr std::size_t kLeastPoints = 5;

  // A loss that is not finite, or of the same iteration as the last one, is ignored. An iteration
  // before the last one means that the task began again: what was known is dropped.
  void observe(double iteration, double loss);

  double iteration() const { return iteration_; }
  double range() const { return greatest_ - least_; }  // largest - smallest loss seen
  // The curve of least weighted squares over a grid of shapes, recent points weighing more; nullopt
  // while there are fewer than kLeastPoints. A loss that rises gives a constant.
  std::optional<LossCurve> fit(CurveShape shape = CurveShape::kPower) const;

 private:
  struct Point {
    double iteration = 0;
    double loss = 0;
  };

  void halve();

  std::vector<Point> points_;  // means of `per_point_` reports each, oldest first
  std::size_t per_point_ = 1;
  std::size_t in_last_ = 0;  // reports in the last point
  double iteration_ = 0;
  double least_ = 0;
  double greatest_ = 0;
};

}  // namespace slackline::core

#include "slackline/core/elastic/loss_curve.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace slackline::core {
namespace {

constexpr std::size_t kCurveWindow = 60;  // points that a history is scaled to
constexpr double kWeightPerPoint = 0.97;  // of a point that is one older
constexpr std::array kExponents = {0.3, 0.5, 0.75, 1.0, 1.5, 2.5};
constexpr std::array kShifts = {1.0, 3.0, 10.0, 30.0};
constexpr std::size_t kDecays = 16;  // mu = 1 - 10^e, e from -3 to -0.4

// Sums over the points for one shape, and the best a and c >= 0 in closed form.
class CurveSquares {
 public:
  struct Line {
    double a = 0;
    double c = 0;
    double error = 0;
  };

  void add(double weight, double f, double y) {
    w_ += weight;
    f_ += weight * f;
    y_ += weight * y;
    ff_ += weight * f * f;
    fy_ += weight * f * y;
    yy_ += weight * y * y;
  }

  Line solve() const {
    const double determinant = w_ * ff_ - f_ * f_;
    Line line;
    if (determinant > 1e-12 * w_ * ff_) line.a = std::max(0.0, (w_ * fy_ - f_ * y_) / determinant);
    line.c = (y_ - line.a * f_) / w_;
    if (line.c < 0) {
      line.c = 0;
      line.a = ff_ > 0 ? std::max(0.0, fy_ / ff_) : 0;
    }
    line.error = yy_ - 2 * (line.a * fy_ + line.c * y_) + line.a * line.a * ff_ +
                 2 * line.a * line.c * f_ + line.c * line.c * w_;
    return line;
  }

 private:
  double w_ = 0;
  double f_ = 0;
  double y_ = 0;
  double ff_ = 0;
  double fy_ = 0;
  double yy_ = 0;
};

constexpr std::size_t kMostShapes = kExponents.size() * kShifts.size();
static_assert(kDecays <= kMostShapes);
using ShapeValues = std::array<double, kMostShapes>;

std::size_t shapes_of(CurveShape shape) {
  return shape == CurveShape::kPower ? kMostShapes : kDecays;
}

void set_shape(LossCurve& curve, std::size_t index) {
  if (curve.shape == CurveShape::kPower) {
    curve.shift = kShifts[index / kExponents.size()];
    curve.exponent = kExponents[index % kExponents.size()];
    return;
  }
  const double e = -3 + 2.6 * static_cast<double>(index) / (kDecays - 1);
  curve.exponent = std::log1p(-std::pow(10, e));
}

// f(x) of all powers: roots instead of a pow() for each.
void power_values(double x, ShapeValues& f) {
  double* value = f.data();
  for (const double shift : kShifts) {
    const double inverse = 1 / (x + shift);
    const double root = std::sqrt(inverse);
    *value++ = std::pow(inverse, kExponents[0]);
    *value++ = root;
    *value++ = root * std::sqrt(root);
    *value++ = inverse;
    *value++ = inverse * root;
    *value++ = inverse * inverse * root;
  }
}

}  // namespace

std::string_view to_string(CurveShape shape) {
  return shape == CurveShape::kPower ? "power" : "exponential";
}

std::optional<CurveShape> parse_curve_shape(std::string_view text) {
  for (const CurveShape shape : {CurveShape::kPower, CurveShape::kExponential})
    if (to_string(shape) == text) return shape;
  return std::nullopt;
}

double LossCurve::loss(double iteration) const {
  const double x = iteration / iterations_per_x;
  return c + a * (shape == CurveShape::kPower ? std::pow(x + shift, -exponent)
                                              : std::exp(exponent * x));
}

double LossCurve::drop(double from, double to) const {
  return a > 0 && to > from ? loss(from) - loss(to) : 0;
}

void LossHistory::observe(double iteration, double loss) {
  if (!std::isfinite(loss) || !std::isfinite(iteration) || iteration < 0) return;
  if (!points_.empty() && iteration == iteration_) return;
  if (iteration < iteration_) *this = {};
  least_ = points_.empty() ? loss : std::min(least_, loss);
  greatest_ = points_.empty() ? loss : std::max(greatest_, loss);
  iteration_ = iteration;
  if (points_.empty() || in_last_ == per_point_) {
    if (points_.size() == 2 * kCurveWindow) halve();
    points_.push_back({iteration, loss});
    in_last_ = 1;
    return;
  }
  ++in_last_;
  Point& last = points_.back();
  last.iteration += (iteration - last.iteration) / static_cast<double>(in_last_);
  last.loss += (loss - last.loss) / static_cast<double>(in_last_);
}

// Two points become one; the next report begins a new one.
void LossHistory::halve() {
  for (std::size_t i = 0; i < kCurveWindow; ++i) {
    const Point& a = points_[2 * i];
    const Point& b = points_[2 * i + 1];
    points_[i] = {(a.iteration + b.iteration) / 2, (a.loss + b.loss) / 2};
  }
  points_.resize(kCurveWindow);
  per_point_ *= 2;
}

std::optional<LossCurve> LossHistory::fit(CurveShape shape) const {
  if (points_.size() < kLeastPoints) return std::nullopt;
  const auto points = static_cast<double>(points_.size());
  const double scaled = std::min(points, static_cast<double>(kCurveWindow));
  LossCurve curve{shape};
  curve.iterations_per_x = std::max(iteration_ / scaled, 1e-9);
  const std::size_t shapes = shapes_of(shape);
  ShapeValues decays{};  // ln mu
  if (shape == CurveShape::kExponential)
    for (std::size_t s = 0; s < shapes; ++s) {
      set_shape(curve, s);
      decays[s] = curve.exponent;
    }
  std::array<CurveSquares, kMostShapes> squares;
  ShapeValues f{};
  const double older = std::pow(kWeightPerPoint, scaled / points);
  double weight = 1;
  for (std::size_t i = points_.size(); i-- > 0; weight *= older) {
    const double x = points_[i].iteration / curve.iterations_per_x;
    if (shape == CurveShape::kPower)
      power_values(x, f);
    else
      std::transform(decays.begin(), decays.end(), f.begin(),
                     [x](double decay) { return std::exp(decay * x); });
    for (std::size_t s = 0; s < shapes; ++s)
      squares[s].add(weight, f[s], points_[i].loss);
  }
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t s = 0; s < shapes; ++s) {
    const CurveSquares::Line line = squares[s].solve();
    if (!(line.error < least)) continue;
    least = line.error;
    curve.a = line.a;
    curve.c = line.c;
    set_shape(curve, s);
  }
  return curve;
}

}  // namespace slackline::core

#include "least_squares.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

namespace slackline::core {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kFirstDamping = 1e-3;
constexpr double kMostDamping = 1e10;
constexpr double kConverged = 1e-9;  // relative fall of the cost
constexpr double kStep = 1e-6;       // of the finite differences, relative

class Descent {
 public:
  Descent(const LeastSquares& problem, const VectorXd& start)
      : problem_(problem),
        x_(start.cwiseMax(problem.low).cwiseMin(problem.high)),
        residuals_(problem.weights.size()),
        shifted_(problem.weights.size()),
        jacobian_(problem.weights.size(), start.size()) {
    problem_.residuals(x_, residuals_);
    cost_ = cost_of(residuals_);
  }

  Minimum run() {
    for (int i = 0; i < problem_.max_iterations; ++i)
      if (!improve()) break;
    return {x_, cost_};
  }

 private:
  double cost_of(const VectorXd& residuals) const {
    const double scale = problem_.outlier_scale;
    return 2 * scale * scale * ((1 + (residuals / scale).array().square()).sqrt() - 1).sum();
  }

  // Forward differences, backward at the upper bound.
  void differentiate() {
    VectorXd x = x_;
    for (Index j = 0; j < x.size(); ++j) {
      if (problem_.low[j] == problem_.high[j]) {
        jacobian_.col(j).setZero();
        continue;
      }
      double step = kStep * std::max(std::abs(x_[j]), 1e-3);
      if (x_[j] + step > problem_.high[j]) step = -step;
      x[j] = x_[j] + step;
      problem_.residuals(x, shifted_);
      jacobian_.col(j) = (shifted_ - residuals_) / step;
      x[j] = x_[j];
    }
  }

  // One accepted step; false where there is none, or it hardly helped.
  bool improve() {
    differentiate();
    const VectorXd weights = (problem_.weights.array() *
                              (1 + (residuals_ / problem_.outlier_scale).array().square()).rsqrt())
                                 .matrix();
    const MatrixXd weighted = weights.asDiagonal() * jacobian_;
    MatrixXd normal = jacobian_.transpose() * weighted;
    VectorXd gradient = weighted.transpose() * residuals_;
    hold_at_bounds(normal, gradient);
    for (; damping_ < kMostDamping; damping_ *= 10) {
      MatrixXd damped = normal;
      damped.diagonal() += damping_ * (normal.diagonal().array() + 1e-12).matrix();
      const VectorXd next =
          (x_ - damped.ldlt().solve(gradient)).cwiseMax(problem_.low).cwiseMin(problem_.high);
      problem_.residuals(next, shifted_);
      const double cost = cost_of(shifted_);
      if (!(cost < cost_)) continue;
      const bool converged = cost_ - cost <= kConverged * cost_;
      x_ = next;
      residuals_.swap(shifted_);
      cost_ = cost;
      damping_ = std::max(damping_ * 0.2, 1e-12);
      return !converged;
    }
    return false;
  }

  // A coordinate at its bound, with the descent pointing outside, stays where it is.
  void hold_at_bounds(MatrixXd& normal, VectorXd& gradient) const {
    for (Index j = 0; j < x_.size(); ++j) {
      const bool held = problem_.low[j] == problem_.high[j] ||
                        (x_[j] <= problem_.low[j] && gradient[j] > 0) ||
                        (x_[j] >= problem_.high[j] && gradient[j] < 0);
      if (!held) continue;
      normal.row(j).setZero();
      normal.col(j).setZero();
      normal(j, j) = 1;
      gradient[j] = 0;
    }
  }

  const LeastSquares& problem_;
  VectorXd x_;
  VectorXd residuals_;
  VectorXd shifted_;
  MatrixXd jacobian_;
  double cost_ = 0;
  double damping_ = kFirstDamping;
};

}  // namespace

Minimum minimize(const LeastSquares& problem, const VectorXd& start) {
  return Descent(problem, start).run();
}

Minimum minimize(const LeastSquares& problem, const std::vector<VectorXd>& starts) {
  Minimum best;
  for (const VectorXd& start : starts) {
    Minimum found = minimize(problem, start);
    if (best.x.size() == 0 || found.cost < best.cost) best = std::move(found);
  }
  return best;
}

}  // namespace slackline::core

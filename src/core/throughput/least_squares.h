// Bounded, robust least squares: Levenberg-Marquardt with clamped steps. Deterministic.
//
// Minimises sum w_i rho(r_i(x)) over low <= x <= high, rho the soft L1 loss: quadratic up to about
// `outlier_scale`, linear beyond. Each iteration solves the damped normal equations over the
// coordinates that are not held at a bound by the gradient; a step that does not lower the cost is
// taken back and damped more. A coordinate with low == high is a constant. Local: the caller tries
// several starts.
#pragma once

#include <functional>
#include <vector>

#include <Eigen/Core>

#include "observations.h"

namespace slackline::core {

struct LeastSquares {
  // Writes the residuals at x; their number never changes. Finite for every x within the bounds.
  std::function<void(const Eigen::VectorXd& x, Eigen::VectorXd& residuals)> residuals;
  Eigen::VectorXd weights;  // one for each residual, > 0
  Eigen::VectorXd low;
  Eigen::VectorXd high;
  double outlier_scale = 0.1;
};

struct Minimum {
  Eigen::VectorXd x;
  double cost = 0;
};

// The best of several starts, the first of equals; a rough one goes from the first start only.
Minimum minimize(const LeastSquares& problem, const std::vector<Eigen::VectorXd>& starts,
                 Effort effort);

}  // namespace slackline::core

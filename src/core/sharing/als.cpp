// What the log-additive model leaves, as a matrix of rank 3: alternating least squares, each row
// and column solved with a ridge that grows with its cells. Deterministic: it starts from a fixed
// seed.
#include <cmath>
#include <vector>

#include <Eigen/Dense>

#include "log_additive.h"
#include "pair_kinds.h"
#include "slackline/base/random.h"

namespace slackline::core {
namespace {

constexpr int kRank = 3;
constexpr int kAlsSweeps = 25;
constexpr double kRidge = 0.1;  // for each cell of the row, and one more
constexpr std::uint64_t kAlsSeed = 3;

using Factors = Eigen::Matrix<double, Eigen::Dynamic, kRank>;

struct Residuals {
  std::vector<PairCell> cells;
  double deviation = 0;
};

// y of each cell: what is left, over its standard deviation.
Residuals residuals_of(const PairCells& known, const LogAdditive& terms) {
  Residuals left{known.cells, 0};
  for (PairCell& cell : left.cells) {
    cell.y -= terms.at(cell.a, cell.b);
    left.deviation += cell.y * cell.y / static_cast<double>(known.cells.size());
  }
  left.deviation = std::sqrt(left.deviation);
  for (PairCell& cell : left.cells)
    cell.y = left.deviation > 0 ? cell.y / left.deviation : 0;
  return left;
}

void solve_side(const std::vector<PairCell>& cells, const Factors& other, bool by_a,
                Factors& side) {
  const auto rows = static_cast<std::size_t>(side.rows());
  std::vector<Eigen::Matrix3d> squares(rows, Eigen::Matrix3d::Identity() * kRidge);
  std::vector<Eigen::Vector3d> right(rows, Eigen::Vector3d::Zero());
  for (const PairCell& cell : cells) {
    const auto mine = static_cast<std::size_t>(by_a ? cell.a : cell.b);
    const Eigen::Vector3d factor = other.row(by_a ? cell.b : cell.a).transpose();
    squares[mine] += factor * factor.transpose() + Eigen::Matrix3d::Identity() * kRidge;
    right[mine] += factor * cell.y;
  }
  for (std::size_t i = 0; i < rows; ++i)
    side.row(static_cast<Eigen::Index>(i)) = squares[i].ldlt().solve(right[i]).transpose();
}

std::vector<double> fit_als(const PairCells& known) {
  const LogAdditive terms = fit_log_additive_terms(known);
  const Residuals left = residuals_of(known, terms);
  Random random(kAlsSeed);
  Factors of_a(known.tasks, kRank);
  Factors of_b(known.tasks, kRank);
  for (Eigen::Index i = 0; i < of_b.size(); ++i)
    of_b(i) = random.normal();
  for (int i = 0; i < kAlsSweeps; ++i) {
    solve_side(left.cells, of_b, true, of_a);
    solve_side(left.cells, of_a, false, of_b);
  }
  std::vector<double> y;
  for (int a = 0; a < known.tasks; ++a)
    for (int b = 0; b < known.tasks; ++b)
      y.push_back(terms.at(a, b) + left.deviation * of_a.row(a).dot(of_b.row(b)));
  return y;
}

}  // namespace

const PairKind kAls{"als", 20, false, fit_als};

}  // namespace slackline::core

#include "time_fit.h"

#include <algorithm>
#include <cmath>

#include "least_squares.h"

namespace slackline::core {
namespace {

using Eigen::Index;
using Eigen::VectorXd;

struct Units {
  double time_s;
  double batch;
};

Units units_of(std::span<const Observation> observations) {
  std::vector<double> times;
  for (const Observation& seen : observations)
    times.push_back(seen.iteration_s());
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return {*middle, batch_unit(observations)};
}

double in_seconds_and_samples(double value, Dimension dimension, const Units& units) {
  switch (dimension) {
    case Dimension::kTime:
      return value * units.time_s;
    case Dimension::kTimePerSample:
      return value * units.time_s / units.batch;
    case Dimension::kLogTime:
      return value + std::log(units.time_s);
    case Dimension::kLogBatch:
      return value + std::log(units.batch);
    case Dimension::kRatio:
      break;
  }
  return value;
}

struct Point {
  double local_batch;
  double log_time;
  Spread spread;
};

class TimeFit {
 public:
  TimeFit(const TimeModel& model, std::span<const Observation> observations)
      : model_(model), units_(units_of(observations)) {
    for (const Observation& seen : observations)
      points_.push_back({seen.local_batch() / units_.batch,
                         std::log(seen.iteration_s() / units_.time_s), seen.spread});
    for (const TimeCoefficient& coefficient : model.coefficients)
      if (coefficient.prior_spread > 0 && coefficient.low < coefficient.high) ++priors_;
    const auto size = static_cast<Index>(model.coefficients.size());
    problem_.low.resize(size);
    problem_.high.resize(size);
    start_.resize(size);
    for (Index i = 0; i < size; ++i) {
      const TimeCoefficient& coefficient = at(i);
      problem_.low[i] = coefficient.low;
      problem_.high[i] = coefficient.high;
      start_[i] = coefficient.start;
    }
    problem_.outlier_scale = model.outlier;
    problem_.weights = VectorXd::Ones(static_cast<Index>(observations.size()) + priors_);
    for (std::size_t i = 0; i < observations.size(); ++i)
      problem_.weights[static_cast<Index>(i)] = observations[i].weight;
    problem_.residuals = [this](const VectorXd& x, VectorXd& out) { residuals(x, out); };
  }

  std::vector<double> run(Effort effort) const {
    std::vector<VectorXd> starts{start_};
    for (const auto& others : model_.other_starts) {
      starts.push_back(start_);
      for (const OtherStart& other : others)
        starts.back()[static_cast<Index>(other.coefficient)] = other.value;
    }
    const Minimum found = minimize(problem_, starts, effort);
    std::vector<double> params;
    for (Index i = 0; i < found.x.size(); ++i)
      params.push_back(in_seconds_and_samples(found.x[i], at(i).dimension, units_));
    return params;
  }

 private:
  const TimeCoefficient& at(Index i) const {
    return model_.coefficients[static_cast<std::size_t>(i)];
  }

  void residuals(const VectorXd& x, VectorXd& out) const {
    const std::span<const double> params(x.data(), static_cast<std::size_t>(x.size()));
    Index row = 0;
    for (const Point& point : points_) {
      const double time = model_.iteration_s(params, point.local_batch, point.spread);
      out[row++] = std::log(std::max(time, 1e-12)) - point.log_time;
    }
    for (Index i = 0; i < x.size(); ++i)
      if (at(i).prior_spread > 0 && at(i).low < at(i).high)
        out[row++] = model_.outlier * (x[i] - at(i).prior) / at(i).prior_spread;
  }

  const TimeModel& model_;
  Units units_;
  std::vector<Point> points_;
  Index priors_ = 0;
  LeastSquares problem_;
  VectorXd start_;
};

}  // namespace

std::vector<double> fit_time(const TimeModel& model, std::span<const Observation> observations,
                             Effort effort) {
  return TimeFit(model, observations).run(effort);
}

void fix(TimeCoefficient& coefficient, double value) {
  coefficient.low = coefficient.high = coefficient.start = value;
}

double batch_unit(std::span<const Observation> observations) {
  double most = 0;
  for (const Observation& seen : observations)
    most = std::max(most, seen.local_batch());
  return most;
}

bool seen_in_node(std::span<const Observation> observations) {
  return std::any_of(observations.begin(), observations.end(), [](const Observation& seen) {
    return seen.spread.nodes == 1 && seen.spread.gpus > 1;
  });
}

bool seen_across_nodes(std::span<const Observation> observations) {
  return std::any_of(observations.begin(), observations.end(),
                     [](const Observation& seen) { return seen.spread.nodes > 1; });
}

double overlapped(double x, double y, double p) {
  const double more = std::max(x, y);
  const double less = std::min(x, y);
  if (less <= 0) return more;
  if (p == 1) return x + y;
  return more * std::pow(1 + std::pow(less / more, p), 1 / p);
}

}  // namespace slackline::core

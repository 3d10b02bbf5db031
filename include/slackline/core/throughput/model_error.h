// ModelError: the error of predicted run times, from finished runs.
//
// The error of a run is ln(observed / predicted); rms() is the root of the mean square. A model
// without finished runs counts with the error that its profile claims (held_out_mape), or as exact.
#pragma once

#include <cmath>

namespace slackline::core {

class ModelError {
 public:
  ModelError() = default;
  // As if kPriorRuns runs had had this error.
  explicit ModelError(double claimed_rms)
      : sum_of_squares_(kPriorRuns * claimed_rms * claimed_rms) {}

  // Ignored unless both times are positive.
  void add(double observed_s, double predicted_s) {
    if (!(observed_s > 0) || !(predicted_s > 0)) return;
    const double error = std::log(observed_s / predicted_s);
    if (!std::isfinite(error)) return;
    sum_of_squares_ += error * error;
    runs_ += 1;
  }
  // 0 below half a per cent: that is rounding.
  double rms() const {
    const double value = std::sqrt(sum_of_squares_ / runs_);
    return value < kRounding ? 0 : value;
  }

 private:
  static constexpr double kPriorRuns = 4;
  static constexpr double kRounding = 0.005;
  double sum_of_squares_ = 0;
  double runs_ = kPriorRuns;
};

}  // namespace slackline::core

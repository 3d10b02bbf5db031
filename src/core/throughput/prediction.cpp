#include "slackline/core/throughput/prediction.h"

#include <algorithm>
#include <cmath>

#include "kinds.h"
#include "observations.h"
#include "slackline/core/throughput/correction.h"
#include "slackline/core/throughput/throughput.h"

namespace slackline::core {
namespace {

// Shares by which 9 of 10 runs differ, without an evaluation.
constexpr double kMeasuredError = 0.10;  // repeated measurements differ as much
constexpr double kFittedError = 0.30;
constexpr double kAssumedError = 0.50;
constexpr double kMapeToP90 = 2.0;  // where only the mean error is known
constexpr double kExtrapolation = 2.0;

// A percentile of a few errors is mostly chance: below as many points as the second number it is
// drawn towards the usual one.
constexpr double kUsualP90 = 0.15;
constexpr double kPointsToTrust = 20;

double error_of(const ProfileEntry& entry) {
  if (entry.held_out_p90 && entry.points == 0) return *entry.held_out_p90 / 100;
  if (entry.held_out_p90) {
    const double usual = std::max(0.0, kPointsToTrust - entry.points) / 4;
    return (entry.points * *entry.held_out_p90 / 100 + usual * kUsualP90) / (entry.points + usual);
  }
  if (entry.held_out_mape) return kMapeToP90 * *entry.held_out_mape / 100;
  return entry.points > 0 ? kFittedError : kAssumedError;
}

bool outside_of(const std::optional<CountRange>& range, int value) {
  return range && (value < range->least || value > range->most);
}

Prediction around(double throughput, double error, PredictionSource source, bool extrapolated) {
  const double factor = 1 + error;
  return {throughput, throughput / factor, throughput * factor, source, extrapolated};
}

}  // namespace

std::string_view to_string(PredictionSource source) {
  switch (source) {
    case PredictionSource::kMeasured:
      return "measured";
    case PredictionSource::kCorrected:
      return "corrected";
    case PredictionSource::kFitted:
      return "fitted";
    case PredictionSource::kSimilar:
      return "similar";
    case PredictionSource::kSimilarType:
      return "similar-type";
    case PredictionSource::kFamily:
      return "family";
    case PredictionSource::kDefault:
      break;
  }
  return "default";
}

PreparedModel::PreparedModel(const ProfileEntry& entry, double batch)
    : batch_(batch),
      startup_s_(entry.startup_s),
      source_(entry.points > 0 ? PredictionSource::kFitted : PredictionSource::kDefault),
      error_(error_of(entry)),
      model_parallel_(entry.model_parallel),
      derived_parallel_(entry.model_parallel_derived),
      batch_range_(entry.batch_range),
      gpus_range_(entry.gpus_range),
      nodes_range_(entry.nodes_range) {
  if (!valid_coefficients(entry.coefficients)) return;
  kind_ = find_kind(entry.coefficients.kind);
  params_ = entry.coefficients.params;
  corrections_ = entry.corrections;
}

void PreparedModel::set_model_parallel(int gpus) {
  other_parallel_ = other_parallel_ || gpus != model_parallel_;
  derived_parallel_ = false;
  model_parallel_ = gpus;
}

std::optional<Prediction> PreparedModel::predict(Spread spread) const {
  if (!std::isfinite(batch_) || spread.gpus < 1 || !(batch_ > 0)) return std::nullopt;
  if (batch_ * model_parallel_ < spread.gpus && !derived_parallel_) return std::nullopt;
  if (!measured_.empty()) {
    const auto at = std::lower_bound(
        measured_.begin(), measured_.end(), spread,
        [](const std::pair<Spread, double>& row, const Spread& key) { return row.first < key; });
    if (at != measured_.end() && at->first == spread) return measured(at->second);
  }
  if (kind_ == nullptr) return std::nullopt;
  const double throughput = factor_ * kind_->predict(params_, batch_, spread);
  if (!std::isfinite(throughput) || throughput <= 0) return std::nullopt;
  return modelled(throughput, spread);
}

Prediction PreparedModel::measured(double throughput) const {
  return around(throughput, kMeasuredError, PredictionSource::kMeasured, false);
}

Prediction PreparedModel::modelled(double throughput, Spread spread) const {
  const bool extrapolated = outside(spread);
  const double error = extrapolated ? kExtrapolation * error_ : error_;
  if (corrections_.empty()) return around(throughput, error, source_, extrapolated);
  const AppliedCorrection correction = correction_for(corrections_, spread);
  return around(throughput * correction.ratio, error,
                correction.known ? PredictionSource::kCorrected : source_, extrapolated);
}

bool PreparedModel::outside(Spread spread) const {
  const double local_batch = batch_ * model_parallel_ / spread.gpus;
  const bool batch_outside = batch_range_ && (local_batch * kSameBatch < batch_range_->least ||
                                              local_batch > batch_range_->most * kSameBatch);
  return other_parallel_ || batch_outside || outside_of(gpus_range_, spread.gpus) ||
         outside_of(nodes_range_, spread.nodes);
}

}  // namespace slackline::core

// How well a fit predicts samples that it was not fitted to: the honest error of a throughput
// model.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/core/throughput/fit.h"
#include "slackline/model/sample.h"

namespace slackline::core {

// Which samples are predicted from which others.
//   loo      every layout with all its batches from all other layouts; where there is only one, or
//            the others cannot be fitted, every batch on a layout from all other measurements
//   kfold:N  every N-th layout, in the order of layouts, from the others; 2 <= N <= layouts
//   few      everything else from three single-GPU batches (least, middle, most) and at most four
//            symmetric layouts at two batches: what a short calibration could afford. few:B+LxK
//            takes B batches and L layouts at K batches instead; "few" is few:3+4x2
//   batches  every batch of one GPU but the least and the most, from the other single-GPU samples
struct HoldOut {
  enum class Kind { kLeaveOneOut, kKFold, kFew, kBatches };
  Kind kind = Kind::kLeaveOneOut;
  int folds = 0;           // of kKFold
  int batches = 3;         // of kFew: on one GPU, at least 2
  int layouts = 4;         // of kFew: of several GPUs, at most this many, at least 2
  int layout_batches = 2;  // of kFew: of each of these, at least 1
  friend bool operator==(const HoldOut&, const HoldOut&) = default;
};
Result<HoldOut> parse_hold_out(std::string_view text);  // "loo", "kfold:8", "few" ...
std::string to_string(const HoldOut& hold_out);

struct HeldOutPrediction {
  std::size_t sample = 0;  // index into the samples given
  double throughput_samples_per_s = 0;
  double ape = 0;  // |predicted - measured| / measured, percent
};

struct HoldOutReport {
  Fit fit;  // of all samples; its held_out is `error`
  HeldOutError error;
  bool by_measurement = false;  // loo left out single batches of layouts, not whole layouts
  // Mean error between measurements of one batch and one layout, percent; absent where nothing was
  // measured twice. No model can be better.
  std::optional<double> noise_floor;
  // For each global batch with held-out predictions of two symmetric layouts (the shapes that the
  // planner chooses among) or more: whether the one with the highest prediction, measured, is
  // within 5 % of the fastest. Repeated measurements count with their mean; of equal predictions
  // the least layout is chosen.
  int choices = 0;
  int choices_within_5_percent = 0;
  std::vector<HeldOutPrediction> predictions;  // by sample; only those held out
};

// As fit_throughput(), and: too few layouts to hold any out. A fold that cannot be fitted fails the
// whole: an error without the hard cases would look too good.
Result<HoldOutReport> evaluate(std::span<const ThroughputSample> samples, const FitOptions& options,
                               const HoldOut& hold_out);

}  // namespace slackline::core

// Predictor: what is known about a model's speed, and how well, from profiles, measured samples and
// corrections (rows 000-04, 000-21, 001-15).
//
// The best source there is, in this order:
//   measured   this model, GPU type, batch and layout was measured: the geometric mean
//   corrected  fitted, times what finished runs on as many nodes and GPUs said
//   fitted     coefficients with measurements behind them
//   similar    the model's coefficients of another GPU type, times the ratio of both types measured
//              with this model (at this batch, else at the nearest one)
//   family     the same, the ratio taken from the other models of its family
//   default    coefficients that somebody assumed: no measurement is behind them
//
// Immutable: safe to share between threads.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/model/placement.h"
#include "slackline/model/sample.h"
#include "slackline/model/workload.h"

namespace slackline::core {

enum class PredictionSource { kMeasured, kCorrected, kFitted, kSimilar, kFamily, kDefault };
std::string_view to_string(PredictionSource source);  // "measured" ... "default"

struct Prediction {
  double throughput_samples_per_s = 0;
  double low = 0;   // 9 of 10 runs are expected between low and high, samples per second
  double high = 0;  // low <= throughput <= high
  PredictionSource source = PredictionSource::kDefault;
  bool extrapolated = false;  // outside the batches, GPUs or nodes that were measured
};

// observed / predicted as it is applied: shrunk towards 1 by the number of runs, within 0.5 .. 2.
double shrunk_ratio(const Correction& correction);

// `corrections` with one more run; a ratio that is not positive and finite changes nothing.
void learn_correction(std::vector<Correction>& corrections, Spread spread,
                      double observed_over_predicted);

// The letters that a model's name begins with: "resnet50" -> "resnet", "gpt2-xl" -> "gpt".
std::string_view family_of(std::string_view model);

class Predictor {
 public:
  // Samples that are not positive and finite are passed over.
  explicit Predictor(WorkloadProfiles profiles, std::span<const ThroughputSample> samples = {});

  // nullopt: nothing is known about the model on any GPU type that leads to this one, the batch has
  // fewer samples than the layout has GPUs, or the model predicts no progress.
  std::optional<Prediction> predict(std::string_view model, double batch, const GpuType& gpu_type,
                                    const Layout& layout) const;

  const WorkloadProfiles& profiles() const { return profiles_; }

 private:
  WorkloadProfiles profiles_;
};

}  // namespace slackline::core

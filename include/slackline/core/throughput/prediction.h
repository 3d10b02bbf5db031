// Prediction: a throughput with its source and its error.
//
// PreparedModel: everything known about one model and batch on one GPU type, ready for many shapes.
// A call looks up what was measured, else evaluates the coefficients: about 0.1 us, no allocation.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "slackline/model/placement.h"
#include "slackline/model/workload.h"

namespace slackline::core {

struct ThroughputKind;  // private: a row of the registry

enum class PredictionSource {
  kMeasured,   // this model, GPU type, batch and spread was measured: the geometric mean
  kCorrected,  // fitted, times what finished runs on as many nodes and GPUs said
  kFitted,     // coefficients with measurements behind them
  kSimilar,    // this model's coefficients on another GPU type, times what was measured on this one
  kSimilarType,  // this model's coefficients on another GPU type, times how both types compare
  kFamily,       // the speed of another model of the family
  kDefault,      // assumed coefficients, without a measurement
};
std::string_view to_string(PredictionSource source);  // "measured" ... "default"
// Whether this very model was measured on the GPU type; else the speed is another type's or
// model's, or assumed.
constexpr bool is_of_this_model(PredictionSource source) {
  return source != PredictionSource::kSimilarType && source != PredictionSource::kFamily &&
         source != PredictionSource::kDefault;
}

struct Prediction {
  double throughput_samples_per_s = 0;
  // About 9 of 10 runs lie between: the 90th percentile of the held-out error, drawn towards the
  // usual one while points are few, twice as far where extrapolated. 0 < low <= throughput <= high.
  double low = 0;
  double high = 0;
  PredictionSource source = PredictionSource::kDefault;
  bool extrapolated = false;  // outside the batches of one GPU, GPUs or nodes that were measured
};

class PreparedModel {
 public:
  // The entry's coefficients as they are. An unknown kind predicts nothing.
  PreparedModel(const ProfileEntry& entry, double batch);

  // nullopt: more replicas than samples in the batch, or no progress predicted.
  std::optional<Prediction> predict(Spread spread) const;

  // For replicas of this many GPUs, whatever the coefficients were fitted to; >= 1.
  void set_model_parallel(int gpus);

  double batch() const { return batch_; }
  double startup_s() const { return startup_s_; }
  int model_parallel() const { return model_parallel_; }  // GPUs of a replica

 private:
  friend class Predictor;
  explicit PreparedModel(double batch) : batch_(batch) {}

  Prediction measured(double throughput) const;
  Prediction modelled(double throughput, Spread spread) const;
  bool outside(Spread spread) const;

  double batch_ = 0;
  double startup_s_ = 0;
  const ThroughputKind* kind_ = nullptr;
  std::vector<double> params_;
  double factor_ = 1;  // over the coefficients
  PredictionSource source_ = PredictionSource::kDefault;
  double error_ = 0;  // of 9 in 10, as a share
  int model_parallel_ = 1;
  bool derived_parallel_ = false;  // nobody stated it
  bool other_parallel_ = false;    // than the coefficients were fitted to
  std::optional<BatchRange> batch_range_;
  std::optional<CountRange> gpus_range_;
  std::optional<CountRange> nodes_range_;
  std::vector<Correction> corrections_;
  std::vector<std::pair<Spread, double>> measured_;  // sorted
};

}  // namespace slackline::core

// CorrectionNet: what CorrectionTable learns, by one small network for all nodes (the shared
// network after paper 001, LDWP). Nodes are described by what they have, so nodes that come and go
// need no retraining. Trained once, then fixed; what it is made of may be kept and given back.
//
// It predicts ln(observed / predicted) from features that the caller chooses, normalised by mean
// and deviation of the samples: two hidden layers of 64 and 32, squared error, Adam, 20 passes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "slackline/core/learning/mlp.h"

namespace slackline::core {

class CorrectionNet {
 public:
  struct Sample {
    std::vector<double> features;
    double log_ratio = 0;
  };

  // Of a feature, in what was learnt from.
  struct Feature {
    double mean = 0;
    double deviation = 1;  // > 0
    double least = 0;
    double most = 0;
  };
  using PassDone = std::function<void(int pass, int of)>;

  // Samples of equal length, at least one. The same samples and seed give the same weights.
  CorrectionNet(std::span<const Sample> samples, std::uint64_t seed, const PassDone& done = {});
  // As it was trained before: features() and weights() of that one.
  CorrectionNet(std::vector<Feature> features, std::vector<double> weights);

  // Of its layers, from the features to the output.
  static std::vector<int> widths(std::size_t features);

  const std::vector<Feature>& features() const { return features_; }
  const std::vector<double>& weights() const { return net_.weights(); }

  // nullopt: a feature is further from the middle of what was learnt from than 1.5 times its range,
  // or the answer is no number. Else clamped as CorrectionTable's.
  std::optional<double> log_factor(std::span<const double> features) const;

 private:
  std::vector<double> normalised(std::span<const double> features) const;

  std::vector<Feature> features_;
  Mlp net_;
};

}  // namespace slackline::core

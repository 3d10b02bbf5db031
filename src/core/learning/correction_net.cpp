#include "slackline/core/learning/correction_net.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

#include "slackline/core/learning/correction_table.h"

namespace slackline::core {
namespace {

constexpr int kFirstLayer = 64;
constexpr int kSecondLayer = 32;
constexpr int kPasses = 20;
constexpr std::size_t kNetBatch = 32;
constexpr double kNetStep = 2e-3;
constexpr double kDecay = 1e-4;
constexpr double kTrusted = 1.5;  // ranges of a feature, around its middle

}  // namespace

std::vector<int> CorrectionNet::widths(std::size_t features) {
  return {static_cast<int>(features), kFirstLayer, kSecondLayer, 1};
}

CorrectionNet::CorrectionNet(std::vector<Feature> features, std::vector<double> weights)
    : features_(std::move(features)), net_(widths(features_.size()), std::move(weights)) {}

CorrectionNet::CorrectionNet(std::span<const Sample> samples, std::uint64_t seed,
                             const PassDone& done)
    : features_(samples.front().features.size()), net_([&] {
        Random random(seed);
        return Mlp(widths(samples.front().features.size()), random);
      }()) {
  const auto count = static_cast<double>(samples.size());
  for (std::size_t i = 0; i < features_.size(); ++i) {
    Feature& feature = features_[i];
    feature.least = feature.most = samples.front().features[i];
    for (const Sample& sample : samples) {
      feature.mean += sample.features[i] / count;
      feature.least = std::min(feature.least, sample.features[i]);
      feature.most = std::max(feature.most, sample.features[i]);
    }
    double variance = 0;
    for (const Sample& sample : samples)
      variance += std::pow(sample.features[i] - feature.mean, 2) / count;
    if (feature.most > feature.least) feature.deviation = std::sqrt(variance);
  }
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random random(~seed);
  Adam adam(net_.weights().size(), kNetStep, kDecay);
  Mlp::Gradient gradient;
  for (int pass = 0; pass < kPasses; ++pass) {
    shuffle(order, random);
    for (std::size_t begin = 0; begin < order.size(); begin += kNetBatch) {
      std::vector<double> inputs;
      std::vector<double> targets;
      for (std::size_t i = begin; i < std::min(begin + kNetBatch, order.size()); ++i) {
        const Sample& sample = samples[order[i]];
        const auto input = normalised(sample.features);
        inputs.insert(inputs.end(), input.begin(), input.end());
        targets.push_back(sample.log_ratio);
      }
      net_.gradient(inputs, targets, gradient);
      adam.step(net_.weights(), gradient.weights);
    }
    if (done) done(pass + 1, kPasses);
  }
}

std::vector<double> CorrectionNet::normalised(std::span<const double> features) const {
  std::vector<double> normal(features.begin(), features.end());
  for (std::size_t i = 0; i < normal.size(); ++i)
    normal[i] = (normal[i] - features_[i].mean) / features_[i].deviation;
  return normal;
}

std::optional<double> CorrectionNet::log_factor(std::span<const double> features) const {
  for (std::size_t i = 0; i < features.size(); ++i) {
    const Feature& seen = features_[i];
    const double middle = (seen.least + seen.most) / 2;
    if (!(std::abs(features[i] - middle) <= kTrusted * (seen.most - seen.least))) return {};
  }
  const double value = net_.predict(normalised(features));
  if (!std::isfinite(value)) return {};
  return std::clamp(value, std::log(CorrectionTable::kLeastFactor),
                    std::log(CorrectionTable::kMostFactor));
}

}  // namespace slackline::core

#include "slackline/core/predictor.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "slackline/core/throughput.h"

namespace slackline::core {

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
    case PredictionSource::kFamily:
      return "family";
    case PredictionSource::kDefault:
      break;
  }
  return "default";
}

double shrunk_ratio(const Correction& correction) {
  if (!(correction.ratio > 0) || correction.runs <= 0) return 1;
  const double share = static_cast<double>(correction.runs) / (correction.runs + 1);
  return std::clamp(std::exp(share * std::log(correction.ratio)), 0.5, 2.0);
}

void learn_correction(std::vector<Correction>& corrections, Spread spread,
                      double observed_over_predicted) {
  if (!std::isfinite(observed_over_predicted) || observed_over_predicted <= 0) return;
  const auto key = [](const Correction& c) { return std::pair(c.nodes, c.gpus); };
  const std::pair wanted(spread.nodes, spread.gpus);
  auto at = std::lower_bound(corrections.begin(), corrections.end(), wanted,
                             [&](const Correction& c, const auto& k) { return key(c) < k; });
  if (at == corrections.end() || key(*at) != wanted)
    at = corrections.insert(at, {spread.nodes, spread.gpus, 1.0, 0});
  const double sum = at->runs * std::log(at->ratio) + std::log(observed_over_predicted);
  ++at->runs;
  at->ratio = std::exp(sum / at->runs);
}

std::string_view family_of(std::string_view model) {
  const auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  const auto end = std::find_if_not(model.begin(), model.end(), letter);
  return model.substr(0, static_cast<std::size_t>(end - model.begin()));
}

Predictor::Predictor(WorkloadProfiles profiles, std::span<const ThroughputSample> /*samples*/)
    : profiles_(std::move(profiles)) {}

std::optional<Prediction> Predictor::predict(std::string_view model, double batch,
                                             const GpuType& gpu_type, const Layout& layout) const {
  const ProfileEntry* entry = profiles_.find(model, gpu_type);
  if (entry == nullptr) return std::nullopt;
  const auto throughput = predict_throughput(entry->coefficients, batch, layout.spread());
  if (!throughput) return std::nullopt;
  const double factor = 1 + entry->held_out_p90.value_or(50) / 100;
  return Prediction{*throughput, *throughput / factor, *throughput * factor,
                    entry->points > 0 ? PredictionSource::kFitted : PredictionSource::kDefault,
                    false};
}

}  // namespace slackline::core

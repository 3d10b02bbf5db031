#include "slackline/core/throughput/correction.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace slackline::core {
namespace {

constexpr double kLeastRatio = 0.5;
constexpr double kMostRatio = 2.0;

bool before(const Correction& correction, const std::pair<int, int>& key) {
  return std::pair(correction.nodes, correction.gpus) < key;
}

bool is_for(const Correction& correction, const Spread& spread) {
  return correction.nodes == spread.nodes && correction.gpus == spread.gpus;
}

}  // namespace

double shrunk_ratio(const Correction& correction) {
  if (!(correction.ratio > 0) || correction.runs <= 0) return 1;
  const double share = static_cast<double>(correction.runs) / (correction.runs + 1);
  return std::clamp(std::pow(correction.ratio, share), kLeastRatio, kMostRatio);
}

AppliedCorrection correction_for(const std::vector<Correction>& corrections, Spread spread) {
  for (const Correction& correction : corrections)
    if (is_for(correction, spread)) return {shrunk_ratio(correction), correction.runs > 0};
  return {};
}

void learn_correction(std::vector<Correction>& corrections, Spread spread,
                      double observed_over_predicted) {
  if (!std::isfinite(observed_over_predicted) || observed_over_predicted <= 0) return;
  auto at = std::lower_bound(corrections.begin(), corrections.end(),
                             std::pair(spread.nodes, spread.gpus), before);
  if (at == corrections.end() || !is_for(*at, spread))
    at = corrections.insert(at, {spread.nodes, spread.gpus, 1.0, 0});
  const double sum = at->runs * std::log(at->ratio) + std::log(observed_over_predicted);
  ++at->runs;
  at->ratio = std::exp(sum / at->runs);
}

std::vector<Correction> middle_corrections(std::span<const std::vector<Correction>> of_namespaces) {
  std::map<std::pair<int, int>, std::vector<Correction>> by_place;
  for (const std::vector<Correction>& corrections : of_namespaces)
    for (const Correction& correction : corrections)
      by_place[{correction.nodes, correction.gpus}].push_back(correction);
  std::vector<Correction> middle;
  for (auto& [place, said] : by_place) {
    if (said.size() % 2 == 0) {
      int runs = 0;
      for (const Correction& correction : said)
        runs += correction.runs;
      said.push_back({place.first, place.second, 1.0, runs});
    }
    const auto at = said.begin() + static_cast<std::ptrdiff_t>(said.size() / 2);
    std::nth_element(said.begin(), at, said.end(), [](const Correction& a, const Correction& b) {
      return std::pair(shrunk_ratio(a), a.runs) < std::pair(shrunk_ratio(b), b.runs);
    });
    middle.push_back(*at);
  }
  return middle;
}

}  // namespace slackline::core

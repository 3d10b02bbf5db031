#include "quantiles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <numeric>
#include <utility>

namespace slackline::core {
namespace {

// SplitMix64's mixing step.
std::uint64_t mix(std::uint64_t value) {
  std::uint64_t z = value + 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

// Where the next value would fall below with probability p: position p (n + 1) of n draws, counted
// from 1. The middle one of the values is as predicted, and no draw.
double at(const std::vector<double>& sorted, double p) {
  const auto values = static_cast<double>(sorted.size());
  const double aside = std::min(p, 1 - p) * values - 1;
  const double last = values - 1;
  const double position =
      p == 0.5 ? last / 2 : std::clamp(p < 0.5 ? aside : last - aside, 0.0, last);
  const auto below = static_cast<std::size_t>(position);
  const double part = position - static_cast<double>(below);
  if (part == 0 || !std::isfinite(sorted[below + 1])) return sorted[below + (part > 0.5 ? 1 : 0)];
  return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

}  // namespace

double normal_cdf(double z) {
  return 0.5 * std::erfc(-z / std::sqrt(2.0));
}

double normal_quantile(double p) {
  constexpr double kWide = 0.05;  // from here on a step squares the error
  constexpr int kSteps = 4;
  const double root_2pi = std::sqrt(2 * std::numbers::pi);
  double low = -9;
  double high = 9;
  while (high - low > kWide) {
    const double middle = (low + high) / 2;
    (normal_cdf(middle) < p ? low : high) = middle;
  }
  double z = (low + high) / 2;
  for (int step = 0; step < kSteps; ++step)
    z -= (normal_cdf(z) - p) * root_2pi * std::exp(z * z / 2);
  return std::clamp(z, low, high);
}

double stratum_quantile(std::int64_t id, int scenario) {
  static const std::array<double, kScenarios> kQuantiles = [] {
    std::array<double, kScenarios> quantiles{};
    for (std::size_t rank = 0; rank < quantiles.size(); ++rank)
      quantiles[rank] = normal_quantile((static_cast<double>(rank) + 0.5) / kScenarios);
    return quantiles;
  }();
  constexpr int kMiddle = kScenarios / 2;
  if (scenario == kMiddle) return 0;
  // The hash orders the ranks of one side, and says which of them change sides; the other side
  // mirrors it.
  std::uint64_t hash = mix(static_cast<std::uint64_t>(id));
  std::array<int, kMiddle> order{};
  std::iota(order.begin(), order.end(), 1);
  for (std::uint64_t left = kMiddle; left > 1; --left) {
    std::swap(order[left - 1], order[hash % left]);
    hash /= left;
  }
  const auto aside = static_cast<std::size_t>(std::abs(scenario - kMiddle) - 1);
  const bool changes = (hash >> aside & 1U) != 0;
  const int rank =
      (scenario < kMiddle) != changes ? kMiddle - order[aside] : kMiddle + order[aside];
  return kQuantiles[static_cast<std::size_t>(rank)];
}

Quantiles quantiles_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  Quantiles quantiles;
  for (std::size_t i = 0; i < quantiles.deciles.size(); ++i)
    quantiles.deciles[i] = at(values, static_cast<double>(i + 1) / 10);
  return quantiles;
}

}  // namespace slackline::core

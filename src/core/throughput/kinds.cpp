// The kinds of throughput models, and what is common to all of them: valid input, usable output.
#include "kinds.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "slackline/base/text.h"
#include "slackline/core/throughput/throughput.h"

namespace slackline::core {
namespace {

// nullptr where the kind is unknown or does not take these params.
const ThroughputKind* usable_kind(const Coefficients& coefficients) {
  const ThroughputKind* kind = find_kind(coefficients.kind);
  const auto& params = coefficients.params;
  const bool usable = kind != nullptr &&
                      std::all_of(params.begin(), params.end(),
                                  [](double param) { return std::isfinite(param); }) &&
                      kind->takes(params);
  return usable ? kind : nullptr;
}

// For messages; the file of each kind documents them and their ranges.
std::string_view params_of(std::string_view kind) {
  constexpr std::pair<std::string_view, std::string_view> kParams[] = {
      {"A", "a, c, s1, s2, s3, s4, all >= 0"},
      {"H", "a, c, s1, r1, s2, r2, r3, p, k, f, then pairs of log batch and curve"},
      {"L", "pairs of log batch and log seconds, by batch"},
      {"P", "a, c, s1, s2, s3, s4, p, all >= 0, p from 1 to 10"},
      {"P2", "a, c, s1, s2, s3, s4, p, k, f, all >= 0, p from 1 to 10"},
      {"S", "k0, k1, k2, gamma, lambda"},
      {"S/mean", "k0, k1, k2, gamma, lambda"},
      {"W", "log t, log alpha, s1, log s2, nu, ga, kappa, rho, q, log of the largest batch"},
      {"linear", "c, above 0"},
      {"table", "rows of batch, GPUs and samples per second, ascending"},
  };
  for (const auto& [name, params] : kParams)
    if (name == kind) return params;
  return "finite numbers";
}

}  // namespace

std::span<const ThroughputKind* const> kinds() {
  static constexpr const ThroughputKind* kAll[] = {
      &kLinear,  &kInterpolation, &kAdditive, &kSeedSum, &kSeedMean,
      &kOverlap, &kContended,     &kHybrid,   &kScaling, &kTable,
  };
  return kAll;
}

const ThroughputKind* find_kind(std::string_view name) {
  for (const ThroughputKind* kind : kinds())
    if (kind->name == name) return kind;
  return nullptr;
}

std::optional<double> predict_throughput(const Coefficients& coefficients, double batch,
                                         Spread spread, int model_parallel) {
  const ThroughputKind* kind = usable_kind(coefficients);
  if (kind == nullptr || spread.nodes < 1 || spread.most_per_node < 1) return std::nullopt;
  if (!std::isfinite(batch) || !(batch > 0) || batch * model_parallel < spread.gpus)
    return std::nullopt;
  const double throughput = kind->predict(coefficients.params, batch, spread);
  if (!std::isfinite(throughput) || throughput <= 0) return std::nullopt;
  return throughput;
}

std::optional<double> lat_s(double throughput_samples_per_s, double batch, double iterations,
                            double startup_s) {
  if (!(iterations >= 0) || !(startup_s >= 0)) return std::nullopt;
  const double seconds = batch * iterations / throughput_samples_per_s + startup_s;
  if (!std::isfinite(seconds)) return std::nullopt;
  return seconds;
}

std::optional<double> predict_lat_s(const Coefficients& coefficients, double batch,
                                    double iterations, Spread spread, double startup_s) {
  const auto throughput = predict_throughput(coefficients, batch, spread);
  return throughput ? lat_s(*throughput, batch, iterations, startup_s) : std::nullopt;
}

std::vector<std::string_view> fittable_kinds() {
  std::vector<std::string_view> names;
  for (const ThroughputKind* kind : kinds())
    if (kind->fit != nullptr) names.push_back(kind->name);
  std::sort(names.begin(), names.end());
  return names;
}

std::string why_unusable(const Coefficients& coefficients) {
  if (valid_coefficients(coefficients)) return {};
  if (find_kind(coefficients.kind) != nullptr)
    return format("the {} params are not what kind {} takes: {}", coefficients.params.size(),
                  coefficients.kind, params_of(coefficients.kind));
  std::vector<std::string_view> names;
  for (const ThroughputKind* kind : kinds())
    names.push_back(kind->name);
  std::sort(names.begin(), names.end());
  return format("\"{}\" is not a kind of model; allowed: {}", printable(coefficients.kind, 64),
                fmt::join(names, ", "));
}

bool valid_coefficients(const Coefficients& coefficients) {
  return usable_kind(coefficients) != nullptr;
}

}  // namespace slackline::core

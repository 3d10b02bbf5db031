// The kinds of throughput models, and what is common to all of them: valid input, usable output.
#include <algorithm>
#include <cmath>

#include "kinds.h"
#include "slackline/core/throughput.h"

namespace slackline::core {
namespace {

constexpr ThroughputKind kKinds[] = {
    {"S", 5, predict_seed_sum},
    {"S/mean", 5, predict_seed_mean},
};

// nullptr where the kind is unknown or does not take these params.
const ThroughputKind* usable_kind(const Coefficients& coefficients) {
  for (const ThroughputKind& kind : kKinds) {
    if (kind.name != coefficients.kind) continue;
    const auto& params = coefficients.params;
    const bool valid = params.size() == kind.params &&
                       std::all_of(params.begin(), params.end(),
                                   [](double param) { return std::isfinite(param); });
    return valid ? &kind : nullptr;
  }
  return nullptr;
}

}  // namespace

std::optional<double> predict_throughput(const Coefficients& coefficients, double batch,
                                         Placement shape) {
  const ThroughputKind* kind = usable_kind(coefficients);
  if (kind == nullptr || shape.d_node < 1 || shape.d_gpn < 1) return std::nullopt;
  if (!std::isfinite(batch) || batch < static_cast<double>(shape.gpus())) return std::nullopt;
  const double throughput = kind->predict(coefficients.params, batch, shape);
  if (!std::isfinite(throughput) || throughput <= 0) return std::nullopt;
  return throughput;
}

std::optional<double> predict_lat_s(const Coefficients& coefficients, double batch,
                                    double iterations, Placement shape, double startup_s) {
  const auto throughput = predict_throughput(coefficients, batch, shape);
  if (!throughput || !(iterations >= 0) || !(startup_s >= 0)) return std::nullopt;
  const double lat_s = batch * iterations / *throughput + startup_s;
  if (!std::isfinite(lat_s)) return std::nullopt;
  return lat_s;
}

std::vector<std::string_view> throughput_kinds() {
  std::vector<std::string_view> names;
  for (const ThroughputKind& kind : kKinds)
    names.push_back(kind.name);
  std::sort(names.begin(), names.end());
  return names;
}

bool valid_coefficients(const Coefficients& coefficients) {
  return usable_kind(coefficients) != nullptr;
}

}  // namespace slackline::core

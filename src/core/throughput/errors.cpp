#include "errors.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace slackline::core {
namespace {

double percentile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

double absolute_percentage_error(double predicted, double measured) {
  return 100 * std::abs(predicted / measured - 1);
}

HeldOutError summary_of(std::vector<double> errors) {
  HeldOutError summary;
  if (errors.empty()) return summary;
  std::sort(errors.begin(), errors.end());
  summary.mean =
      std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
  summary.median = percentile(errors, 0.5);
  summary.p90 = percentile(errors, 0.9);
  summary.samples = static_cast<int>(errors.size());
  return summary;
}

}  // namespace slackline::core

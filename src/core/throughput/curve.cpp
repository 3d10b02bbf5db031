#include "curve.h"

#include <cmath>

namespace slackline::core {

double curve_at(std::span<const double> pairs, double log_batch) {
  const std::size_t size = pairs.size();
  if (size == 0) return 0;
  if (log_batch <= pairs[0]) return pairs[1];
  for (std::size_t i = 2; i < size; i += 2) {
    if (log_batch > pairs[i]) continue;
    const double share = (log_batch - pairs[i - 2]) / (pairs[i] - pairs[i - 2]);
    return pairs[i - 1] + share * (pairs[i + 1] - pairs[i - 1]);
  }
  return pairs[size - 1];
}

bool is_curve(std::span<const double> pairs) {
  if (pairs.size() % 2 != 0) return false;
  for (std::size_t i = 2; i < pairs.size(); i += 2)
    if (pairs[i] <= pairs[i - 2]) return false;
  return true;
}

std::vector<double> knots_of(std::span<const Observation> observations, std::size_t most,
                             double unit) {
  std::vector<double> knots;
  for (const double batch : local_batches_of(observations))
    knots.push_back(std::log(batch / unit));
  if (knots.size() <= most) return knots;
  const double first = knots.front();
  const double step = (knots.back() - first) / static_cast<double>(most - 1);
  knots.clear();
  for (std::size_t i = 0; i < most; ++i)
    knots.push_back(first + step * static_cast<double>(i));
  return knots;
}

}  // namespace slackline::core

#include "additive_terms.h"

#include <algorithm>

namespace slackline::core {

double computation_s(std::span<const double> params, double local_batch) {
  return params[0] + params[1] * local_batch;
}

double sync_s(std::span<const double> params, Spread spread) {
  if (spread.gpus < 2) return 0;
  const std::size_t first = spread.nodes == 1 ? 2 : 4;
  return params[first] + params[first + 1] * (spread.gpus - 2);
}

bool takes_additive(std::span<const double> params, std::size_t count) {
  return params.size() == count && params[0] + params[1] > 0 &&
         std::all_of(params.begin(), params.end(), [](double param) { return param >= 0; });
}

std::vector<TimeCoefficient> additive_coefficients(std::span<const Observation> observations) {
  constexpr double kMost = 1e3;
  std::vector<TimeCoefficient> terms{
      {Dimension::kTime, 1e-9, kMost, 0.2}, {Dimension::kTimePerSample, 1e-9, kMost, 0.7},
      {Dimension::kTime, 0, kMost, 0.05},   {Dimension::kTime, 0, kMost, 0.01},
      {Dimension::kTime, 0, kMost, 0.2},    {Dimension::kTime, 0, kMost, 0.01}};
  if (!seen_in_node(observations)) fix(terms[2], 0), fix(terms[3], 0);
  if (!seen_across_nodes(observations)) fix(terms[4], 0), fix(terms[5], 0);
  return terms;
}

std::vector<double> with_unseen_sync(std::vector<double> params,
                                     std::span<const Observation> observations) {
  const auto in_node = params.begin() + 2;
  const auto across = params.begin() + 4;
  if (!seen_across_nodes(observations))
    std::copy_n(in_node, 2, across);
  else if (!seen_in_node(observations))
    std::copy_n(across, 2, in_node);
  return params;
}

}  // namespace slackline::core

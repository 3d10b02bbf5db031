// Without a measured pair: a GPU has time for what its tasks use together, and 1 - 0.36 of what is
// beyond that is lost. Without a portrait of either, 0.6.
#include <algorithm>
#include <cmath>

#include "pair_kinds.h"

namespace slackline::core {
namespace {

constexpr double kLostBeyond = 0.36;
constexpr double kUnknown = 0.6;

std::vector<double> fit_cold(const PairCells& known) {
  std::vector<double> y(static_cast<std::size_t>(known.tasks) *
                        static_cast<std::size_t>(known.tasks));
  for (int a = 0; a < known.tasks; ++a)
    for (int b = 0; b < known.tasks; ++b) {
      const auto& of_a = known.gpu_utilisation[static_cast<std::size_t>(a)];
      const auto& of_b = known.gpu_utilisation[static_cast<std::size_t>(b)];
      const double r = of_a && of_b ? 1 - kLostBeyond * std::max(0.0, *of_a + *of_b - 1) : kUnknown;
      y[known.at(a, b)] = std::log(r);
    }
  return y;
}

}  // namespace

const PairKind kCold{"cold", 0, false, fit_cold};

}  // namespace slackline::core

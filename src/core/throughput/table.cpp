// Kind "table": the measured values; a straight line between neighbours.
#include <optional>

#include "kinds.h"

namespace slackline::core {
namespace {

constexpr std::size_t kColumns = 3;  // batch, GPUs, samples per second

struct Cell {
  double batch, gpus, throughput_samples_per_s;
};

Cell cell_of(std::span<const double> params, std::size_t row) {
  return {params[row * kColumns], params[row * kColumns + 1], params[row * kColumns + 2]};
}

double between(double x, double x0, double y0, double x1, double y1) {
  return x1 > x0 ? y0 + (y1 - y0) * (x - x0) / (x1 - x0) : y0;
}

// The rows [first, last) of one batch, at a number of GPUs; nullopt outside what was measured.
std::optional<double> at_gpus(std::span<const double> params, std::size_t first, std::size_t last,
                              double gpus) {
  for (std::size_t row = first; row < last; ++row) {
    const Cell high = cell_of(params, row);
    if (high.gpus < gpus) continue;
    if (high.gpus == gpus) return high.throughput_samples_per_s;
    if (row == first) return std::nullopt;
    const Cell low = cell_of(params, row - 1);
    return between(gpus, low.gpus, low.throughput_samples_per_s, high.gpus,
                   high.throughput_samples_per_s);
  }
  return std::nullopt;
}

double predict(std::span<const double> params, double batch, Spread spread) {
  const std::size_t rows = params.size() / kColumns;
  std::optional<double> below;
  double batch_below = 0;
  for (std::size_t first = 0; first < rows;) {
    const double here = cell_of(params, first).batch;
    std::size_t last = first;
    while (last < rows && cell_of(params, last).batch == here)
      ++last;
    const auto value = at_gpus(params, first, last, spread.gpus);
    if (here == batch) return value.value_or(0);
    if (here > batch) return below && value ? between(batch, batch_below, *below, here, *value) : 0;
    below = value;
    batch_below = here;
    first = last;
  }
  return 0;  // a larger batch than any that was measured
}

// Rows by batch, then GPUs, each pair once, everything positive.
bool takes(std::span<const double> params) {
  if (params.empty() || params.size() % kColumns != 0) return false;
  for (std::size_t row = 0; row < params.size() / kColumns; ++row) {
    const Cell cell = cell_of(params, row);
    if (!(cell.batch > 0) || !(cell.gpus > 0) || !(cell.throughput_samples_per_s > 0)) return false;
    if (row == 0) continue;
    const Cell before = cell_of(params, row - 1);
    if (cell.batch < before.batch || (cell.batch == before.batch && cell.gpus <= before.gpus))
      return false;
  }
  return true;
}

}  // namespace

const ThroughputKind kTable{"table", 0, takes, predict, nullptr};

}  // namespace slackline::core

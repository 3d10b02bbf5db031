#include "log_additive.h"

namespace slackline::core {
namespace {

constexpr int kSweeps = 30;
constexpr double kPseudoCells = 0.5;

// One side, given the other: the mean of what the other side leaves.
void sweep(const PairCells& known, const std::vector<double>& other, bool by_a, double mean,
           std::vector<double>& side) {
  std::vector<double> count(side.size(), kPseudoCells);
  side.assign(side.size(), 0.0);
  for (const PairCell& cell : known.cells) {
    const auto mine = static_cast<std::size_t>(by_a ? cell.a : cell.b);
    const auto its = static_cast<std::size_t>(by_a ? cell.b : cell.a);
    side[mine] += cell.y - mean - other[its];
    ++count[mine];
  }
  for (std::size_t i = 0; i < side.size(); ++i)
    side[i] /= count[i];
}

std::vector<double> fit_log_additive(const PairCells& known) {
  const LogAdditive terms = fit_log_additive_terms(known);
  std::vector<double> y;
  for (int a = 0; a < known.tasks; ++a)
    for (int b = 0; b < known.tasks; ++b)
      y.push_back(terms.at(a, b));
  return y;
}

}  // namespace

LogAdditive fit_log_additive_terms(const PairCells& known) {
  LogAdditive terms;
  terms.suffers.resize(static_cast<std::size_t>(known.tasks));
  terms.takes.resize(static_cast<std::size_t>(known.tasks));
  for (const PairCell& cell : known.cells)
    terms.mean += cell.y / static_cast<double>(known.cells.size());
  for (int i = 0; i < kSweeps; ++i) {
    sweep(known, terms.takes, true, terms.mean, terms.suffers);
    sweep(known, terms.suffers, false, terms.mean, terms.takes);
  }
  return terms;
}

const PairKind kLogAdditive{"log-additive", 5, false, fit_log_additive};

}  // namespace slackline::core

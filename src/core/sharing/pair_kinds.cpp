// The ways to predict pairs, and what is common to all of them.
#include "pair_kinds.h"

#include <algorithm>
#include <cmath>

#include "slackline/base/random.h"
#include "slackline/core/learning/mlp.h"
#include "slackline/core/sharing/pair_table.h"

namespace slackline::core {
namespace {

constexpr std::size_t kFolds = 5;
constexpr std::uint64_t kFoldSeed = 1;

// Cells of one pair lie in one fold.
std::vector<std::size_t> folds_of(const PairCells& known) {
  std::vector<std::size_t> order(static_cast<std::size_t>(known.tasks) *
                                 static_cast<std::size_t>(known.tasks));
  std::vector<std::size_t> pairs;
  for (const PairCell& cell : known.cells)
    pairs.push_back(known.at(std::min(cell.a, cell.b), std::max(cell.a, cell.b)));
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  Random random(kFoldSeed);
  shuffle(pairs, random);
  for (std::size_t i = 0; i < pairs.size(); ++i)
    order[pairs[i]] = i % kFolds;
  std::vector<std::size_t> folds;
  for (const PairCell& cell : known.cells)
    folds.push_back(order[known.at(std::min(cell.a, cell.b), std::max(cell.a, cell.b))]);
  return folds;
}

}  // namespace

std::span<const PairKind* const> pair_kinds() {
  static constexpr const PairKind* kAll[] = {&kCold, &kLogAdditive, &kAls, &kNcf};
  return kAll;
}

const PairKind* find_pair_kind(std::string_view name) {
  for (const PairKind* kind : pair_kinds())
    if (kind->name == name) return kind;
  return nullptr;
}

std::vector<std::string_view> pair_kind_names() {
  std::vector<std::string_view> names;
  for (const PairKind* kind : pair_kinds())
    names.push_back(kind->name);
  return names;
}

std::size_t least_pair_cells(std::string_view kind) {
  const PairKind* const found = find_pair_kind(kind);
  return found == nullptr ? 0 : found->least_cells;
}

std::vector<double> fit_pairs(const PairKind& kind, const PairCells& known) {
  std::vector<double> y = kind.fit(known);
  for (double& value : y)
    value = std::clamp(value, std::log(kLeastPredictedSpeed), std::log(kMostPredictedSpeed));
  return y;
}

std::optional<double> pair_error(const PairKind& kind, const PairCells& known) {
  const auto folds = folds_of(known);
  double sum = 0;
  for (std::size_t fold = 0; fold < kFolds; ++fold) {
    PairCells others{known.tasks, {}, known.gpu_utilisation};
    for (std::size_t i = 0; i < folds.size(); ++i)
      if (folds[i] != fold) others.cells.push_back(known.cells[i]);
    if (others.cells.size() < kind.least_cells || others.cells.size() == folds.size())
      return std::nullopt;
    const auto predicted = fit_pairs(kind, others);
    for (std::size_t i = 0; i < folds.size(); ++i) {
      const PairCell& cell = known.cells[i];
      if (folds[i] == fold)
        sum += std::abs(std::exp(predicted[known.at(cell.a, cell.b)] - cell.y) - 1);
    }
  }
  return 100 * sum / static_cast<double>(folds.size());
}

}  // namespace slackline::core

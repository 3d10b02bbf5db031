#include <algorithm>
#include <cmath>

#include "pair_kinds.h"
#include "slackline/core/sharing/pair_table.h"

namespace slackline::core {
namespace {

constexpr std::size_t kChooseFrom = 40;  // cells
constexpr double kClearlyBetter = 0.9;   // of log-additive's error

PairCells cells_of(const PairTable& table, std::map<PairTask, std::size_t>& index) {
  PairCells known;
  for (const auto& [task, utilisation] : table.tasks()) {
    index.emplace(task, index.size());
    known.gpu_utilisation.push_back(utilisation);
  }
  known.gpu_utilisation.emplace_back();  // the last row: a task of which nothing is known
  known.tasks = static_cast<int>(known.gpu_utilisation.size());
  for (const auto& [pair, cell] : table.cells()) {
    if (!(cell.weight > 0) || cell.infeasible) continue;
    const auto a = static_cast<int>(index.at(pair.first));
    const auto b = static_cast<int>(index.at(pair.second));
    known.cells.push_back({a, b, cell.first_log_sum / cell.weight});
    if (a != b) known.cells.push_back({b, a, cell.second_log_sum / cell.weight});
  }
  std::sort(known.cells.begin(), known.cells.end(), [](const PairCell& x, const PairCell& y) {
    return std::pair(x.a, x.b) < std::pair(y.a, y.b);
  });
  return known;
}

struct PairKindChoice {
  const PairKind* kind = nullptr;
  std::optional<double> error_percent;
};

PairKindChoice choose_pair_kind(const PairCells& known, bool slow_kinds) {
  if (known.cells.size() < kLogAdditive.least_cells) return {&kCold, pair_error(kCold, known)};
  const PairKindChoice plain{&kLogAdditive, pair_error(kLogAdditive, known)};
  if (known.cells.size() < kChooseFrom || !plain.error_percent) return plain;
  PairKindChoice best = plain;
  for (const PairKind* kind : pair_kinds()) {
    if (kind == &kLogAdditive || (kind->slow && !slow_kinds)) continue;
    const auto error = pair_error(*kind, known);
    if (error && *error < *best.error_percent) best = {kind, error};
  }
  return *best.error_percent <= kClearlyBetter * *plain.error_percent ? best : plain;
}

}  // namespace

PairModel PairModel::fit(const PairTable& table, const PairModelOptions& options) {
  PairModel model;
  const PairCells known = cells_of(table, model.index_);
  const PairKind* named = find_pair_kind(options.kind);
  const PairKindChoice chosen =
      named != nullptr && known.cells.size() >= named->least_cells
          ? PairKindChoice{named, options.measure_error ? pair_error(*named, known) : std::nullopt}
          : choose_pair_kind(known, options.slow_kinds);
  model.kind_ = chosen.kind->name;
  model.error_percent_ = chosen.error_percent;
  model.log_speeds_ = fit_pairs(*chosen.kind, known);
  model.measured_ = table.cells();
  return model;
}

std::optional<PairPrediction> PairModel::predict(const PairTask& a, const PairTask& b) const {
  const auto cell = measured_.find(std::minmax(a, b));
  if (cell != measured_.end() && cell->second.infeasible) return std::nullopt;
  if (cell != measured_.end() && cell->second.weight > 0) {
    const PairSpeeds speeds = cell->second.speeds();
    return PairPrediction{b < a ? speeds.swapped() : speeds, true};
  }
  const auto row_of = [this](const PairTask& task) {
    const auto known = index_.find(task);
    return known == index_.end() ? index_.size() : known->second;
  };
  const std::size_t tasks = index_.size() + 1;
  const std::size_t row_a = row_of(a);
  const std::size_t row_b = row_of(b);
  return PairPrediction{
      {std::exp(log_speeds_[row_a * tasks + row_b]), std::exp(log_speeds_[row_b * tasks + row_a])},
      false};
}

}  // namespace slackline::core

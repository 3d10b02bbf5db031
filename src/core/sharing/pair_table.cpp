#include "slackline/core/sharing/pair_table.h"

#include <algorithm>
#include <cmath>

namespace slackline::core {
namespace {

double capped_log(double r) {
  return std::log(std::clamp(r, kLeastObservedSpeed, kMostObservedSpeed));
}

}  // namespace

PairSpeeds PairTable::Cell::speeds() const {
  return {std::exp(first_log_sum / weight), std::exp(second_log_sum / weight)};
}

void PairTable::add_task(const PairTask& task, std::optional<double> gpu_utilisation) {
  auto& known = tasks_[task];
  if (gpu_utilisation && std::isfinite(*gpu_utilisation))
    known = std::clamp(*gpu_utilisation, 0.0, 1.0);
}

PairTable::Cell& PairTable::cell(const PairTask& a, const PairTask& b) {
  add_task(a);
  add_task(b);
  return cells_[std::minmax(a, b)];
}

void PairTable::observe(const PairTask& a, const PairTask& b, PairSpeeds speeds) {
  const auto usable = [](double r) { return std::isfinite(r) && r > 0; };
  if (!usable(speeds.first) || !usable(speeds.second)) return;
  if (b < a) speeds = speeds.swapped();
  double first = capped_log(speeds.first);
  double second = capped_log(speeds.second);
  if (a == b) first = second = (first + second) / 2;  // two measurements of the same r
  Cell& at = cell(a, b);
  at.first_log_sum = kObservationDecay * at.first_log_sum + first;
  at.second_log_sum = kObservationDecay * at.second_log_sum + second;
  at.weight = kObservationDecay * at.weight + 1;
}

void PairTable::mark_infeasible(const PairTask& a, const PairTask& b) {
  cell(a, b).infeasible = true;
}

void PairTable::forget_infeasible(const PairTask& task) {
  for (auto& [pair, cell] : cells_)
    if (pair.first == task || pair.second == task) cell.infeasible = false;
}

const PairTable::Cell* PairTable::find(const PairTask& a, const PairTask& b) const {
  const auto found = cells_.find(std::minmax(a, b));
  return found == cells_.end() ? nullptr : &found->second;
}

std::size_t PairTable::observations() const {
  std::size_t count = 0;
  for (const auto& [pair, cell] : cells_)
    if (cell.weight > 0 && !cell.infeasible) count += pair.first == pair.second ? 1 : 2;
  return count;
}

}  // namespace slackline::core

// The registry's row: one way to predict ln r(A|B) from some measured cells. Private to
// src/core/sharing.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace slackline::core {

// y = ln r(a|b): the speed of a beside b over its speed alone.
struct PairCell {
  int a = 0;
  int b = 0;
  double y = 0;
};

// What is known of `tasks` tasks on one GPU type in one mode. Cells are sorted by (a, b), each
// once.
struct PairCells {
  int tasks = 0;
  std::vector<PairCell> cells;
  std::vector<std::optional<double>> gpu_utilisation;  // 0..1 of each task alone

  std::size_t at(int a, int b) const {
    return static_cast<std::size_t>(a) * static_cast<std::size_t>(tasks) +
           static_cast<std::size_t>(b);
  }
};

struct PairKind {
  std::string_view name;
  std::size_t least_cells;
  bool slow;  // seconds: not where an answer is waited for
  // ln r(a|b) of every cell at PairCells::at(a, b), all finite; at least `least_cells` cells. The
  // registry keeps what is used within the limits of r.
  std::vector<double> (*fit)(const PairCells& known);
};

extern const PairKind kCold;         // "cold"
extern const PairKind kLogAdditive;  // "log-additive"
extern const PairKind kAls;          // "als"
extern const PairKind kNcf;          // "ncf"

// From the simplest to the richest.
std::span<const PairKind* const> pair_kinds();

// nullptr: there is no such kind.
const PairKind* find_pair_kind(std::string_view name);

// The kind's prediction of every cell, within the limits of a predicted r.
std::vector<double> fit_pairs(const PairKind& kind, const PairCells& known);

// Mean |predicted / measured - 1| of r over all cells, in percent, both cells of a pair held out in
// one of five folds. nullopt: too few cells.
std::optional<double> pair_error(const PairKind& kind, const PairCells& known);

}  // namespace slackline::core

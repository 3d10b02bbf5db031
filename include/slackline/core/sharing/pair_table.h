// Which training tasks slow each other down on one GPU: r(A|B), the speed of A beside B over its
// speed alone, on one GPU type in one mode of sharing. Nothing is copied between types or modes.
//
// A table holds what was measured; a PairModel predicts the rest. A kind of prediction is one file
// in src/core/sharing and one line in its registry:
//   cold          from the GPU utilisation of both alone, where nothing is measured yet
//   log-additive  ln r = mean + how much A suffers + how much B takes; the default
//   als           what log-additive leaves, as a matrix of rank 3
//   ncf           neural collaborative filtering; takes seconds, so it is fitted only when asked
//   for
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slackline/model/gpu_catalog.h"
#include "slackline/model/ids.h"

namespace slackline::core {

inline constexpr double kLeastObservedSpeed = 0.02;  // r counts as if within these
inline constexpr double kMostObservedSpeed = 1.5;
inline constexpr double kLeastPredictedSpeed = 0.05;
inline constexpr double kMostPredictedSpeed = 1.1;
inline constexpr double kObservationDecay = 0.98;  // of the weight of all before, with each new one
inline constexpr std::string_view kAutoPairKind = "auto";

// A task as pairs see it: its family, and the variant in which it runs.
struct PairTask {
  std::string family;
  std::string variant;
  friend auto operator<=>(const PairTask&, const PairTask&) = default;
};

// r(A|B) and r(B|A).
struct PairSpeeds {
  double first = 0;
  double second = 0;

  double sum() const { return first + second; }
  double least() const { return first < second ? first : second; }
  PairSpeeds swapped() const { return {second, first}; }
};

class PairTable {
 public:
  PairTable(GpuType gpu_type, GpuSharing mode) : gpu_type_(std::move(gpu_type)), mode_(mode) {}

  const GpuType& gpu_type() const { return gpu_type_; }
  GpuSharing mode() const { return mode_; }

  // Makes a task known, and its mean GPU utilisation alone, 0..1, if there is a portrait.
  void add_task(const PairTask& task, std::optional<double> gpu_utilisation = std::nullopt);
  // Both speeds > 0 and finite; others are ignored. A speed of 0 is mark_infeasible().
  void observe(const PairTask& a, const PairTask& b, PairSpeeds speeds);
  // The two do not run together: out of memory, or no progress. Holds until forget_infeasible().
  void mark_infeasible(const PairTask& a, const PairTask& b);
  // The memory portrait of the task has changed: what was infeasible may be tried again.
  void forget_infeasible(const PairTask& task);

  struct Cell {
    double first_log_sum = 0;  // of ln r(A|B), each weighted
    double second_log_sum = 0;
    double weight = 0;  // 0: never observed
    bool infeasible = false;

    PairSpeeds speeds() const;  // geometric means; weight > 0
  };
  // By (A, B), A <= B.
  using Cells = std::map<std::pair<PairTask, PairTask>, Cell>;
  const Cells& cells() const { return cells_; }
  const Cell* find(const PairTask& a, const PairTask& b) const;
  const std::map<PairTask, std::optional<double>>& tasks() const { return tasks_; }
  // Measured cells r(A|B), those of infeasible pairs not counted.
  std::size_t observations() const;

 private:
  Cell& cell(const PairTask& a, const PairTask& b);

  GpuType gpu_type_;
  GpuSharing mode_;
  std::map<PairTask, std::optional<double>> tasks_;
  Cells cells_;
};

struct PairPrediction {
  PairSpeeds speeds;
  bool measured = false;
};

struct PairModelOptions {
  std::string_view kind = kAutoPairKind;  // or one of pair_kind_names()
  bool slow_kinds = false;                // auto may take a kind that is fitted for seconds
  bool measure_error = true;              // of a named kind too
};

// The predictions of a table as it was when it was fitted. Immutable.
class PairModel {
 public:
  // auto: from 40 measured cells on, the kind with the smallest error over five folds of pairs, if
  // it is a tenth smaller than that of log-additive; else log-additive, and cold as long as that
  // has too few cells. A named kind that has too few cells, and an unknown one, is treated like
  // auto.
  static PairModel fit(const PairTable& table, const PairModelOptions& options = {});

  // r(A|B) and r(B|A), measured where they are. A task that the table does not know counts as one
  // that was never measured. nullopt: they do not run together.
  std::optional<PairPrediction> predict(const PairTask& a, const PairTask& b) const;

  std::string_view kind() const { return kind_; }
  // Mean error of r in percent on pairs that were held out; nullopt: too few to tell.
  std::optional<double> error_percent() const { return error_percent_; }

 private:
  std::string_view kind_;
  std::optional<double> error_percent_;
  std::map<PairTask, std::size_t> index_;
  std::vector<double> log_speeds_;  // row by row; the last row and column are of unknown tasks
  PairTable::Cells measured_;
};

// From the simplest to the richest.
std::vector<std::string_view> pair_kind_names();
// Measured cells r(A|B) that a kind needs; 0 where there is no such kind.
std::size_t least_pair_cells(std::string_view kind);

}  // namespace slackline::core

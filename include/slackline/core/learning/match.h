// Matching by relative speed (PATS, the baseline of paper 001): which waiting task gets the GPU
// that became free. Under load that decides more than which GPU the oldest task gets.
//
//   v = t(j, k) / mean over the cluster's GPUs g of t(j, type(g)) - age(j) / tau
//
// for each type k with a free GPU and each of the oldest waiting tasks j; the least v starts. A
// task that waits long comes to its turn by its age.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace slackline::core {

inline constexpr std::size_t kMatchWindow = 8;  // the oldest waiting tasks
// tau in medians of the predicted run times of the waiting tasks. With more, the longest wait grows
// beyond that of first come, first served; with less, so does the mean (docs/study/matching.md).
inline constexpr double kMatchPatience = 3;

struct MatchTask {
  double waited_s = 0;
  std::vector<double> time_s;  // predicted, by GPU type; infinity: it may not run there
  bool measured = false;       // its relative speeds are measured, not guessed
};

struct MatchPick {
  std::size_t waiting = 0;  // of the tasks, the oldest first
  std::size_t type = 0;
};

// `gpus` and `free`: of the cluster, by type. While less than half of the oldest tasks are
// measured, as fastest_free(). nullopt: no task may start on what is free.
std::optional<MatchPick> match(std::span<const MatchTask> waiting, std::span<const int> gpus,
                               std::span<const int> free, double patience = kMatchPatience);

// The oldest task that may run on a free GPU, on the type that is fastest for it.
std::optional<MatchPick> fastest_free(std::span<const MatchTask> waiting,
                                      std::span<const int> free);

// How fast tasks run on each GPU type, relative to the others. A task is known by its family and
// its kind within it, as a model and its batch.
class RelativeSpeeds {
 public:
  using Kind = std::pair<std::string, std::string>;

  explicit RelativeSpeeds(std::size_t types) : types_(types) {}

  // A speed > 0 in any unit that all types of this kind share.
  void observe(const Kind& kind, std::size_t type, double speed);

  struct Estimate {
    std::vector<double> speed;  // by type; their geometric mean is 1
    bool measured = false;      // on all types; else by the mean of its family, or of all kinds
  };
  Estimate of(const Kind& kind) const;

 private:
  using Logs = std::vector<std::optional<double>>;  // of the speed, by type

  std::vector<double> usual(const std::string& family) const;

  std::size_t types_;
  std::map<Kind, Logs> known_;
};

}  // namespace slackline::core

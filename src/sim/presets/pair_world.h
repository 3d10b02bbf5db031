// Measured pairs as the truth of a simulation, and tables that know a part of it; the files they
// are in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/core/sharing/pair_table.h"
#include "slackline/model/pair_measurements.h"

namespace slackline::sim {

// wire::read_pairs(). The error: kInvalidArgument only where the file has no such GPU type, or
// several and none is named; kNotFound where no pair ran.
Result<PairMeasurements> read_pair_file(std::string_view text, std::string_view path,
                                        std::string_view gpu_type);

class PairWorld {
 public:
  explicit PairWorld(const PairMeasurements& measured);

  int tasks() const { return static_cast<int>(names_.size()); }
  const core::PairTask& task(int index) const { return names_[static_cast<std::size_t>(index)]; }
  // The true r(a|b) and r(b|a); both 0 where the two do not run together or were not measured.
  core::PairSpeeds speeds(int a, int b) const;

  // The tasks of the same family, itself among them: variants that do the same work with another
  // batch size.
  const std::vector<int>& variants(int task) const {
    return variants_[static_cast<std::size_t>(task)];
  }
  // Of its variants the one that does most samples/s alone, and how fast it is beside that.
  int fastest(int task) const;
  double speed_alone(int task) const;

  // Stand-ins for the portrait of a task, which such measurements do not have, made of what is true
  // of all pairs, so they tell more than a portrait could. What is lost is 1 - r.
  // Utilisation: what its neighbours lose on average, 0..1.
  double utilisation(int task) const { return utilisation_[static_cast<std::size_t>(task)]; }
  // As many metrics as the paper has: what each of eight tasks loses beside it, of as many in all.
  std::vector<double> metrics(int task) const;

  struct Pair {
    int a = 0;
    int b = 0;
  };
  // Pairs that run, a <= b, by (a, b).
  const std::vector<Pair>& feasible() const { return feasible_; }
  // The same in a random order.
  std::vector<Pair> shuffled(std::uint64_t seed) const;

  // A table that knows every task, which pairs do not run (as memory portraits would tell), and the
  // speeds of these pairs.
  core::PairTable table(std::span<const Pair> known) const;

 private:
  double mean_lost_beside(int task) const;
  std::size_t at(int a, int b) const {
    return static_cast<std::size_t>(a) * names_.size() + static_cast<std::size_t>(b);
  }

  GpuType gpu_type_;
  std::vector<core::PairTask> names_;
  std::vector<double> work_per_s_;          // samples/s alone
  std::vector<std::vector<int>> variants_;  // of each task
  std::vector<double> utilisation_;         // of each task
  std::vector<double> speed_;               // r(a|b), row by row
  std::vector<Pair> feasible_;
};

}  // namespace slackline::sim

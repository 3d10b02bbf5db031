// Workload types and their throughput coefficients (000 eq 2, 5-8).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/model/ids.h"

namespace slackline {

// A throughput model as data: the kind names the formula ("S": 000 eq 5-8), params its numbers in
// the order the formula documents. Wire and store carry it without knowing any formula.
struct Coefficients {
  std::string kind;
  std::vector<double> params;
  friend bool operator==(const Coefficients&, const Coefficients&) = default;
};

// The batches of one replica (one GPU without model parallelism) for which coefficients were
// measured or meant; outside this range they extrapolate.
struct BatchRange {
  double least = 0;
  double most = 0;
  friend bool operator==(const BatchRange&, const BatchRange&) = default;
};

// The least and the greatest whole number seen.
struct CountRange {
  int least = 0;
  int most = 0;
  friend bool operator==(const CountRange&, const CountRange&) = default;
};

// How finished runs on this many nodes and GPUs compare with the coefficients.
struct Correction {
  int nodes = 1;
  int gpus = 1;
  double ratio = 1;  // observed / predicted throughput, geometric mean over the runs; > 0
  int runs = 0;
  friend bool operator==(const Correction&, const Correction&) = default;
};

// One row of a WorkloadProfile: how fast a model trains on a GPU type, and how well that is known.
struct ProfileEntry {
  std::string model;
  GpuType gpu_type;
  Coefficients coefficients;
  double startup_s = 0;                 // v of 000 eq 4
  int points = 0;                       // measurements behind the fit; 0 = assumed
  std::optional<double> held_out_mape;  // mean error on shapes not fitted to, percent
  std::string source;
  std::optional<BatchRange> batch_range{};
  std::optional<CountRange> gpus_range{};   // GPUs of the measured shapes
  std::optional<CountRange> nodes_range{};  // nodes of the measured shapes
  std::optional<double> held_out_p90{};     // 9 of 10 held-out errors are smaller, percent
  std::string family{};                     // empty: the letters that the model's name begins with
  std::vector<Correction> corrections{};    // by (nodes, gpus), each once
  // GPUs of a replica (tensor x pipeline x context parallel), and whether that was derived from the
  // samples because they do not state it.
  int model_parallel = 1;
  bool model_parallel_derived = false;
};

// All entries known, sorted by (model, gpu_type); the last one read of a pair wins.
class WorkloadProfiles {
 public:
  WorkloadProfiles() = default;
  explicit WorkloadProfiles(std::vector<ProfileEntry> entries);

  const ProfileEntry* find(std::string_view model, const GpuType& gpu_type) const;
  bool knows_model(std::string_view model) const;
  const std::vector<ProfileEntry>& entries() const { return entries_; }

 private:
  std::vector<ProfileEntry> entries_;
};

}  // namespace slackline

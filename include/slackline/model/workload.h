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

// The batches of one GPU for which coefficients were measured or meant; outside it they
// extrapolate.
struct BatchRange {
  double least = 0;
  double most = 0;
  friend bool operator==(const BatchRange&, const BatchRange&) = default;
};

// One row of a WorkloadProfile: how fast a model trains on a GPU type.
struct ProfileEntry {
  std::string model;
  GpuType gpu_type;
  Coefficients coefficients;
  double startup_s = 0;                 // v of 000 eq 4
  int points = 0;                       // measurements behind the fit; 0 = assumed
  std::optional<double> held_out_mape;  // percent
  std::string source;
  std::optional<BatchRange> batch_range{};
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

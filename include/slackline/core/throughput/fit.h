// Fitting a throughput model to measurements of one model on one GPU type.
//
// Deterministic: the same samples in any order give the same bytes. Robust: residuals are relative
// and an outlier counts linearly. Bounded: every kind keeps its own bounds
// (core/throughput/throughput.h), so a prediction is positive, and never falls as the batch grows.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/sample.h"
#include "slackline/model/workload.h"

namespace slackline::core {

inline constexpr std::string_view kAutoKind = "auto";
inline constexpr int kLeastPointsToChoose = 8;  // below, "auto" takes the simplest kind

struct FitOptions {
  // A kind of fittable_kinds(), or "auto": the kind with the least leave-one-placement-out error
  // where there are kLeastPointsToChoose samples or more on three layouts, else the simplest.
  std::string kind{kAutoKind};
};

// Errors on samples that were not fitted to, in percent of the measured throughput.
struct HeldOutError {
  double mean = 0;
  double median = 0;
  double p90 = 0;
  int samples = 0;
  friend bool operator==(const HeldOutError&, const HeldOutError&) = default;
};

struct Fit {
  Coefficients coefficients;
  int points = 0;             // samples fitted to
  double in_sample_mape = 0;  // percent
  // Leave-one-placement-out, of every sample; absent if "auto" had too few samples to choose, or a
  // kind was given.
  std::optional<HeldOutError> held_out;
  BatchRange batch_range;  // of one replica
  CountRange gpus_range;
  CountRange nodes_range;
  int model_parallel = 1;               // GPUs of a replica
  bool model_parallel_derived = false;  // from the samples, which do not state it
};

// All samples must be of one model and GPU type. kInvalidArgument, with the reason and the remedy:
// an unknown kind, no samples, a sample that is not positive and finite or states more replicas
// than its batch has samples, fewer points than the kind has parameters, or layouts that leave a
// coefficient undetermined. "auto" refuses samples of several GPUs for their number or their
// batches never: kind W takes any.
Result<Fit> fit_throughput(std::span<const ThroughputSample> samples,
                           const FitOptions& options = {});

// The profile row of a fit. `held_out` goes in where the fit has none of its own.
ProfileEntry to_profile_entry(const Fit& fit, std::string model, GpuType gpu_type, double startup_s,
                              std::string source);

}  // namespace slackline::core

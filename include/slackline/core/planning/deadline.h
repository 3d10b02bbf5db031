// The QosDeadline of a task: a promise, resolved once (000 eq 9).
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "slackline/core/throughput/predictor.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/task_intent.h"

namespace slackline::core {

// Added to a deadline in every comparison, so that rounding does not count as late.
inline constexpr double kDeadlineTolerance_s = 1e-3;

// kappa of eq 9, in multiples of Lat<1,1>.
struct DeadlineFactors {
  double urgent = 0.0;
  double prior = 1.0;
  double normal = 2.0;

  double of(QosClass qos) const;
};

// Epoch seconds. An explicit `deadline`, then `deadline-after`, win over the class; the class needs
// lat11_s, else there is no deadline at all: best effort.
std::optional<double> resolve_deadline(const TaskIntent& intent, double created_s,
                                       std::optional<double> lat11_s,
                                       const DeadlineFactors& factors = {});

// Whether a run of this length that starts now ends in time (000 eq 15); nullopt if one of the two
// is unknown.
std::optional<bool> meets_deadline(double now_s, std::optional<double> lat_s,
                                   std::optional<double> deadline_s);

// The run that the deadline of a class is a multiple of.
struct ReferenceRun {
  double lat_s = 0;         // start-up included
  GpuType gpu_type;         // empty: any whole GPU
  std::string_view source;  // a PredictionSource, or "expected-duration"
};

// The part of a task's request that its reference run depends on.
struct ReferenceQuestion {
  const TaskIntent& intent;
  std::string_view resource;  // of its GPUs
  const GpuCatalog& catalog;
};

// By the model Lat<1,1>, on the slowest type that the predictor knows, among those in gpu-types,
// whether the cluster has them or not, else among `cluster_types` (NodeTable::types: a cordon does
// not move a deadline). It says nothing where there is no such type, where the intent names no
// model, batch or iterations, and of GPUs that are not whole. Then, for a class that is named, what
// `expected-duration` says of the task as it is written (stated_duration.h). Else nullopt.
std::optional<ReferenceRun> reference_run(const ReferenceQuestion& task, const Predictor& predictor,
                                          const std::vector<GpuType>& cluster_types);
std::optional<double> reference_lat_s(const ReferenceQuestion& task, const Predictor& predictor,
                                      const std::vector<GpuType>& cluster_types);

}  // namespace slackline::core

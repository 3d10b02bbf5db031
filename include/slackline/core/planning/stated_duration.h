// StatedDuration: what `expected-duration` says of the run time of a task as it is written.
//
// It holds for the GPU type that `expected-duration-on` names, else for the only one of gpu-types.
// Without either every whole GPU is taken as equal, and whoever answers by it says so
// (LengthSource::kStatedForAll). On another type than the named one it is as much longer as the
// task's model says that this type is slower; where no model tells, nobody knows.
#pragma once

#include <optional>
#include <string>

#include "slackline/core/planning/gpu_types.h"
#include "slackline/core/throughput/predictor.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/placement.h"
#include "slackline/model/task_intent.h"

namespace slackline::core {

class StatedDuration {
 public:
  // All outlive it. `resource`: that the task asks for.
  StatedDuration(const TaskIntent& intent, const GpuCatalog& catalog, std::string resource,
                 const Predictor& predictor);

  // Seconds in this shape on this type; nullopt: nothing is stated, or nobody knows it there.
  std::optional<double> on(const GpuType& type, const Placement& shape) const;
  // For which it holds, as the catalogue names it; nullopt: for every whole GPU.
  const std::optional<GpuType>& type() const { return type_; }

 private:
  std::optional<double> speed(const GpuType& type, const Placement& shape) const;

  const TaskIntent& intent_;
  const GpuCatalog& catalog_;
  const std::string resource_;
  const Predictor& predictor_;
  AcceptedTypes named_;  // with variants of the named type
  std::optional<GpuType> type_;
};

// As people wrote it; nullopt: they named none, or several.
std::optional<GpuType> type_of_stated_duration(const TaskIntent& intent);

}  // namespace slackline::core

// Deadlines as every list shows them: one answer for tasks that wait, run and have ended.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "slackline/core/throughput/predictor.h"
#include "slackline/model/gpu_catalog.h"
#include "slackline/model/snapshot.h"
#include "slackline/model/task_intent.h"

namespace slackline::control {

// What a task asks for, as far as its deadline depends on it.
struct DeadlineQuestion {
  const TaskIntent& intent;
  const std::string& gpu_resource;
  double created_s = 0;
};

std::optional<double> deadline_of(const DeadlineQuestion& task, const GpuCatalog& catalog,
                                  const core::Predictor& predictor,
                                  const ClusterSnapshot& snapshot);

}  // namespace slackline::control

// Completion times of several runs as a drawing: the share of all tasks that were done within a
// given time after their submission (000 section 5). Time is logarithmic; a task that was never
// served keeps its curve below 100 %.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/engine.h"

namespace slackline::sim {

// Name of the policy and the outcome of its tasks; at most eight curves can be distinguished.
std::string completion_svg(const core::TaskTable& tasks,
                           const std::vector<std::pair<std::string, Outcome>>& runs,
                           std::string_view title);

}  // namespace slackline::sim

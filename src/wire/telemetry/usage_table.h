// What tasks used, for people and programs: `slackline usage`.
#pragma once

#include <string>
#include <vector>

#include "slackline/model/usage.h"
#include "wire/format/text_table.h"

namespace slackline::wire {

// One line a task; numbers that were not measured are empty.
TextTable usage_table(const std::vector<UsageSample>& samples);

// {"items":[{"task", "run", "from", "to", "gapSeconds", "gpus": "measured"|"shared"|"unknown",
// "cpuCores": {"mean", "max", "seconds"}, "memoryBytes", "gpuShare", "gpuMemoryShare"}],
// "remarks":["..."]}; numbers that were not measured are left out.
std::string usage_json(const std::vector<UsageSample>& samples,
                       const std::vector<std::string>& remarks);

}  // namespace slackline::wire

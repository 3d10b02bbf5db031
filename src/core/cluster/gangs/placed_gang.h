// Where the pods of a gang are, or will be, that has a plan.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "slackline/core/cluster/queue.h"
#include "slackline/core/cluster/task_catalog.h"

namespace slackline::core {

// Sorts the pods, the largest first.
std::vector<std::int64_t> gpus_of_each(std::vector<PodPtr>& pods, const std::string& resource);

// Plan and request of a gang whose pods differ: each on the node that it has, else on one that the
// plan still has for it. No change where they are alike.
void place_each(const TaskParts& parts, QueueTask& task);

}  // namespace slackline::core

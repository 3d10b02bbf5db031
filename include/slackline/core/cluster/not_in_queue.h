// Why a task is not in the queue, for people: somebody asks for it by name.
#pragma once

#include <string>

#include "slackline/model/snapshot.h"

namespace slackline::core {

// A sentence without a full stop that names the Job or pod, says what is the matter, and what to
// do or ask instead. For a key that the queue does not have. O(pods).
std::string why_not_in_queue(const ClusterSnapshot& snapshot, const ObjectKey& key);

}  // namespace slackline::core

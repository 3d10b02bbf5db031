// The parts of a list of REST put together to one document.
#pragma once

#include <string>
#include <vector>

#include "slackline/base/result.h"

namespace slackline::wire {

// JSON documents of rest_encode.h, in order: the first one's facts, everybody's items, the last
// one's metadata. A single part stays as it is. kInvalidArgument: one of them is no such list.
Result<std::string> join_list_parts(std::vector<std::string> parts);

}  // namespace slackline::wire

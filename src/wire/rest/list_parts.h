// Joins the parts of a list of REST into one document.
#pragma once

#include <string>
#include <vector>

#include "slackline/base/result.h"

namespace slackline::wire {

// JSON documents of rows.h, in order: the facts of the first, the items of all, the metadata
// of the last. A single part stays as it is. kInvalidArgument: one of them is not such a list.
Result<std::string> join_list_parts(std::vector<std::string> parts);

}  // namespace slackline::wire

// JSON as YAML in block style, for `-o yaml`.
#pragma once

#include <string>
#include <string_view>

#include "slackline/base/result.h"

namespace slackline::wire {

// One document with the same keys in the same order; read as YAML it is the same value. Strings are
// quoted wherever they could be read as something else. kInvalidArgument: not JSON.
Result<std::string> json_to_yaml(std::string_view json);

}  // namespace slackline::wire

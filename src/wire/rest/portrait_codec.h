// Decodes portraits that are sent over REST (rows.h shows them).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "slackline/base/result.h"

namespace slackline::wire {

inline constexpr std::size_t kMaxPostedPortraits = 1000;  // that one body stores

// {"items": [{"packed": "..."}]}, as a list of them is answered: other members are ignored.
// kInvalidArgument names the field and the remedy.
Result<std::vector<std::string>> read_posted_portraits(std::string_view json,
                                                       std::size_t most = kMaxPostedPortraits);
std::string write_posted_portraits(std::span<const std::string> packed);

}  // namespace slackline::wire

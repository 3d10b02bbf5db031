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
Result<std::vector<std::string>> read_listed_portraits(std::string_view json, std::size_t most);
// The same; kInvalidArgument also where there is none.
Result<std::vector<std::string>> read_posted_portraits(std::string_view json,
                                                       std::size_t most = kMaxPostedPortraits);
std::string write_posted_portraits(std::span<const std::string> packed);

// The list with packed=true as CSV: whose each is, and its bytes.
Result<std::string> packed_portraits_csv(std::string_view json);

// The packed ones of a file that `slackline portraits --packed` has written, as JSON or as CSV.
Result<std::vector<std::string>> read_packed_portraits(std::string_view text, std::size_t most);

}  // namespace slackline::wire

// The place where a text stops being JSON, which simdjson does not report.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace slackline::wire {

// The byte offset of the first error, if found. Reads at most 4 MB: it runs on bad input only and
// must not cost more than decoding did.
std::optional<std::size_t> json_error_offset(std::string_view json);

}  // namespace slackline::wire

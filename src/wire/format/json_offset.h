// Where a text stops being JSON. simdjson tells only that it does; people want the place.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace slackline::wire {

// The byte offset of the first error, if this finds one. Looks at 4 MB at most: it runs on bad
// input only and must not cost more than reading it did.
std::optional<std::size_t> json_error_offset(std::string_view json);

}  // namespace slackline::wire

// Which characters of foreign text are visible; printable() of text.h escapes the others.
#pragma once

#include <cstddef>
#include <string_view>

namespace slackline {

// The length of the UTF-8 sequence that the text begins with, or 0 if its bytes are not one.
std::size_t utf8_length(std::string_view text);

// Whether the text has characters that a terminal obeys or a reader cannot see: control characters
// (C0, DEL, C1), marks without width, changes of direction; or bytes that are not UTF-8.
bool has_unprintable(std::string_view text);

}  // namespace slackline

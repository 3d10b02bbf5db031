// nearest_spelling: the word that a mistyped one was probably meant to be.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace slackline {

// The word that needs the fewest insertions, deletions and replacements of a character; the first
// of equals; nullopt if every word needs more than a third of the longer one's length. O(words x
// length^2) for words of at most 64 bytes; longer words match nothing.
std::optional<std::string_view> nearest_spelling(std::string_view typed,
                                                 std::span<const std::string_view> words);

}  // namespace slackline

// nearest_spelling: what somebody who mistyped a word probably meant.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace slackline {

// The word that takes the fewest insertions, deletions and replacements of a character, of equals
// the first; nullopt where all take more than a third of the longer one's length. O(words x
// length^2) for words of at most 64 bytes; longer ones are like nothing.
std::optional<std::string_view> nearest_spelling(std::string_view typed,
                                                 std::span<const std::string_view> words);

}  // namespace slackline

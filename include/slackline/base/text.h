// Small text helpers that every layer needs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "slackline/base/result.h"

namespace slackline {

// Formatting with checked format strings; fmt is seen only under this name.
using fmt::format;

// Splits at every separator; empty pieces stay, spaces around pieces are removed.
std::vector<std::string_view> split(std::string_view text, char separator);

std::string_view trim(std::string_view text);

// "1 task waits", "2 tasks wait"; without `many` that of `one` with an s.
std::string counted(std::int64_t number, std::string_view one, std::string_view many = {});

std::string join(const std::vector<std::string>& pieces, std::string_view separator);

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// ASCII letters only.
std::string to_lower(std::string_view text);
std::string to_upper(std::string_view text);

// Decimal integers only, the whole text; the error repeats the text.
Result<std::int64_t> parse_int(std::string_view text);

Result<double> parse_number(std::string_view text);

// Shell-style glob with '*' and '?', the whole text must match. Linear in time for one '*'.
bool glob_matches(std::string_view pattern, std::string_view text);

// Foreign text for a log line or a table: control characters escaped, cut at max_length bytes.
std::string printable(std::string_view text, std::size_t max_length = 256);
// Each line of it, whole.
std::string printable_lines(std::string_view text);

// FNV-1a, for stable fingerprints (not for security).
std::uint64_t fingerprint(std::string_view text);

}  // namespace slackline

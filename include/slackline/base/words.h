// Text eight bytes at a time. For names of 8 to 64 bytes, thousands of them per request, calling
// memcmp costs more than the comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace slackline {

// The eight bytes at `at`, in the machine's order.
inline std::uint64_t word_at(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// a == b
inline bool same_name(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  if (a.size() < 8) return a == b;
  // The last eight overlap those before.
  const std::size_t last = a.size() - 8;
  std::uint64_t difference = word_at(a.data() + last) ^ word_at(b.data() + last);
  for (std::size_t at = 0; at < last; at += 8)
    difference |= word_at(a.data() + at) ^ word_at(b.data() + at);
  return difference == 0;
}

}  // namespace slackline

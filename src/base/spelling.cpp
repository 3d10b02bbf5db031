#include "slackline/base/spelling.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace slackline {
namespace {

constexpr std::size_t kLongest = 64;

// Levenshtein's, with one row of the table.
std::size_t distance(std::string_view a, std::string_view b) {
  std::array<std::size_t, kLongest + 1> row{};
  for (std::size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string_view> nearest_spelling(std::string_view typed,
                                                 std::span<const std::string_view> words) {
  std::optional<std::string_view> nearest;
  std::size_t least = kLongest;
  if (typed.size() > kLongest) return nearest;
  for (const std::string_view word : words) {
    if (word.size() > kLongest) continue;
    const std::size_t apart = distance(typed, word);
    if (apart >= least || 3 * apart > std::max(typed.size(), word.size())) continue;
    nearest = word;
    least = apart;
  }
  return nearest;
}

}  // namespace slackline

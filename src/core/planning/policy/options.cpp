#include "options.h"

#include <cmath>

namespace slackline::core {

std::optional<double> read_number(std::string_view text, double most) {
  const auto number = parse_number(text);
  if (!number || !std::isfinite(*number) || *number < 0 || *number > most) return std::nullopt;
  return *number;
}

std::optional<int> read_count(std::string_view text) {
  const auto number = parse_int(text);
  if (!number || *number < 0 || *number > std::numeric_limits<int>::max()) return std::nullopt;
  return static_cast<int>(*number);
}

}  // namespace slackline::core

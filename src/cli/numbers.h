// Numbers of the command line: finite, in a range that is printed with few digits.
#pragma once

#include <string>

#include <CLI/CLI.hpp>

#include "slackline/base/text.h"

namespace slackline::cli {

inline constexpr double kMostSeconds = 1e9;  // 30 years
inline constexpr double kMostHours = 1e6;    // a century

// CLI::Range accepts nan in every range, and prints the greatest double with 309 digits.
inline CLI::Validator in_range(double least, double most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    const auto number = parse_number(text);
    if (number && *number >= least && *number <= most) return {};
    return format("\"{}\" must be a number between {:g} and {:g}", printable(text, 40), least,
                  most);
  };
  return {check, format("FLOAT in [{:g} - {:g}]", least, most), "range"};
}

}  // namespace slackline::cli

#include "wire/rest/value.h"

#include <cmath>

namespace slackline::wire {

std::string figure(double value) {
  if (value == 0 || !std::isfinite(value)) return "-";
  const double size = std::fabs(value);
  if (size >= 100) return format("{:.0f}", value);
  if (size >= 10) return format("{:.1f}", value);
  if (size >= 0.1) return format("{:.2f}", value);
  return format("{:.2g}", value);
}

std::string yes_or_no(const std::optional<bool>& value) {
  if (!value) return "";
  return *value ? "yes" : "no";
}

}  // namespace slackline::wire

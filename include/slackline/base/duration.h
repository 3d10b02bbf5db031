// Durations and points in time, as double seconds.
//
// Durations are Go's ("1h30m", "90s", "250ms") with days and weeks ("1d12h", "2w"), points in time
// RFC 3339 in UTC or with an offset. A duration is never negative here: nothing in the contract may
// be.
#pragma once

#include <limits>
#include <string>
#include <string_view>

#include "slackline/base/result.h"

namespace slackline {

inline constexpr double kHour_s = 3600;
inline constexpr double kNever =
    std::numeric_limits<double>::infinity();  // a time that never comes

Result<double> parse_duration_s(std::string_view text);

// What to write in place of one that is not read: "it has no unit: write 3600s or 1h (units: ...)".
std::string duration_advice(std::string_view text);

// Seconds since 1970-01-01T00:00:00Z.
Result<double> parse_rfc3339_s(std::string_view text);

// "2026-11-21T12:00:00Z", whole seconds.
std::string format_rfc3339(double epoch_s);

// For people: "45s", "12m30s", "3h30m", "2d4h".
std::string format_duration(double seconds);

}  // namespace slackline

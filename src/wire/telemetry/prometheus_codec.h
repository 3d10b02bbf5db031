// What a Prometheus answers to /api/v1/query and /api/v1/query_range:
// {"status":"success","data":{"resultType":"vector"|"matrix","result":[{"metric":{...},
// "value":[t,"v"] | "values":[[t,"v"],...]}]},"warnings":[...]}. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "slackline/base/result.h"

namespace slackline::wire {

inline constexpr std::size_t kMostSeries = 200'000;      // of one answer
inline constexpr std::size_t kMostPoints = 10'000'000;   // of all its series together
inline constexpr std::size_t kMostLabels = 128;          // of one series
inline constexpr std::size_t kMostWarningBytes = 4'096;  // of all warnings together

struct SeriesPoint {
  double time_s = 0;  // epoch seconds
  double value = 0;   // finite: NaN and infinities are left out, because they measure nothing
};

struct Series {
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<SeriesPoint> points;  // in order of time

  // Empty where the series does not have the label, as PromQL has it.
  std::string_view label(std::string_view name) const;
};

struct QueryAnswer {
  std::vector<Series> series;
  // What the server says of an answer that may be incomplete (Thanos: a store that is away).
  std::vector<std::string> warnings;
};

// kInvalidArgument: not such an answer, or one without series (a scalar). kResourceExhausted: more
// than the limits above.
Result<QueryAnswer> decode_query_answer(std::string_view body);

// The message of {"status":"error","errorType":"bad_data","error":"..."}, made printable; empty: it
// is not one.
std::string decode_query_error(std::string_view body);

}  // namespace slackline::wire

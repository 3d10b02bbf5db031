// What the command line reads and writes of answers: where a task stands, and calendars for
// calendar programs (RFC 5545).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "message/answer_views.h"
#include "slackline/base/result.h"
#include "wire/rest/standing.h"

namespace slackline::wire {

// The member `standing` of an Eta, or of an Explanation's: "starts", "waits", "misses", "unknown".
// kInvalidArgument: it is neither.
Result<std::string> standing_in_answer(std::string_view json);

inline constexpr double kLikely = 0.5;
// Of a quote: "in time" (the best row has at least this chance, or no deadline), "late", "unknown".
Result<std::string> standing_in_quote(std::string_view json);

// What a quote says of the task as it is written: "starts now, is done ..., in time by 2h55m".
struct AsWritten {
  std::string text;
  Standing standing = Standing::kUnknown;
  std::string note{};  // of a Job whose pods start one by one
  std::vector<std::string> problems{};
};
Result<AsWritten> as_written_in_quote(std::string_view json, double now_s);

// One event for each stretch of time in which the same number of GPUs is free, none where no GPU
// is.
std::string to_icalendar(const std::vector<CalendarRow>& rows, double now_s);
// The rows of a list of GET /v1/calendar.
Result<std::vector<CalendarRow>> decode_calendar(std::string_view json);

}  // namespace slackline::wire

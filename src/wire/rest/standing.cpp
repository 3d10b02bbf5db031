#include "wire/rest/standing.h"

#include <algorithm>

#include "slackline/model/task.h"
#include "wire/format/json_view.h"

namespace slackline::wire {
namespace {

Standing standing_of_row(JsonView row) {
  for (const char* fails : {"blocked", "late", "cutShort"})
    if (row[fails].is_true()) return Standing::kTooLate;
  if (row["slackSeconds"].number().value_or(0) < 0) return Standing::kTooLate;
  if (row["deadline"].present() && !row["predictedFinish"].present()) return Standing::kUnknown;
  const bool waits = row["state"].text() == to_string(TaskState::kWaiting);
  return waits && !row["predictedStart"].present() ? Standing::kUnknown : Standing::kInTime;
}

}  // namespace

Result<Standing> standing_in_queue(std::string_view json) {
  JsonDocument document;
  SLACKLINE_ASSIGN(const JsonView list, document.parse(json));
  if (!list["items"].is_array())
    return fail(ErrorCode::kInvalidArgument, "the answer is not a list");
  Standing worst = Standing::kInTime;
  for (const JsonView row : list["items"].items())
    worst = std::max(worst, standing_of_row(row));
  return worst;
}

Standing standing_of(const TriedManifest& tried) {
  const auto suits = [&](const TriedNode& node) {
    return node.passes && (!tried.has_deadline || node.meets_deadline != "no");
  };
  return std::any_of(tried.nodes.begin(), tried.nodes.end(), suits) ? Standing::kUnknown
                                                                    : Standing::kTooLate;
}

}  // namespace slackline::wire

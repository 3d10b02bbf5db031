// The body of POST /v1/tasks/{ns}/{name}/progress:
// {"iteration": 1200, "total": 90000, "loss": 0.35, "time": "2026-11-21T12:01:00Z", "phase":
// "warmup"}. Pure.
#pragma once

#include <string_view>

#include "slackline/base/result.h"
#include "slackline/model/progress.h"

namespace slackline::wire {

inline constexpr std::size_t kMaxProgressBody = 4096;  // bytes

// `time` may also be a number of epoch seconds. kInvalidArgument names each wrong field.
Result<ProgressReport> read_posted_progress(std::string_view body);

}  // namespace slackline::wire

// Whether a task will be in time, read from what REST tells about it: the exit codes of
// `slackline queue TASK` and `slackline try`.
#pragma once

#include <string_view>

#include "slackline/base/result.h"

namespace slackline::wire {

// From best to worst.
enum class Standing {
  kInTime,   // by the forecast it starts, and meets its deadline if it has one
  kUnknown,  // there is no forecast, or too little data for one
  kTooLate,  // it is blocked, fits nowhere, or misses its deadline
};

// Of GET /v1/queue?name=...: of several tasks the worst. A task whose last moment to start has
// passed is too late even where no finish is known. kInvalidArgument: not such a list.
Result<Standing> standing_in_queue(std::string_view json);

// Of POST /v1/scores, if the task started now on the node that suits it best.
Result<Standing> standing_of_manifest(std::string_view json);

}  // namespace slackline::wire

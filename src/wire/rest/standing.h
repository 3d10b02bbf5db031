// Whether a task will be in time, read from what REST tells about it: the exit codes of
// `slackline queue TASK` and `slackline try`.
#pragma once

#include <string_view>

#include "slackline/base/result.h"
#include "wire/kube/manifest.h"

namespace slackline::wire {

// From best to worst.
enum class Standing {
  kInTime,   // by the forecast it starts, and meets its deadline if it has one
  kUnknown,  // there is no forecast, or too little data for one
  kTooLate,  // it is blocked, cut short by its time limit, fits nowhere, or misses its deadline
};

// Of GET /v1/queue?name=...: of several tasks the worst. A task whose last moment to start has
// passed is too late even where no finish is known. kInvalidArgument: not such a list.
Result<Standing> standing_in_queue(std::string_view json);

// Of a manifest without a forecast, by its nodes alone: never in time, as nobody knows its start.
Standing standing_of(const TriedManifest& tried);

}  // namespace slackline::wire

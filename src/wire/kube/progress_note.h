// The annotation `progress` of a Job, for people and programs alike:
//
//   1200/90000 at 2026-11-21T12:01:00Z, 800 at 2026-11-21T12:00:00Z, loss 0.35, phase warmup
//
// The iteration of the last report, that of the first one of the same attempt, and what else was
// told; all but the first part may be absent. Pure.
#pragma once

#include <string>
#include <string_view>

#include "slackline/base/result.h"
#include "slackline/model/ids.h"
#include "slackline/model/progress.h"

namespace slackline::wire {

// Of a `phase`: letters, digits, '.', '_' and '-', at most 32.
bool is_phase(std::string_view text);

std::string encode_progress(const ProgressNote& note);
// kInvalidArgument: it is not what Slackline writes.
Result<ProgressNote> read_progress(std::string_view annotation);

// The merge patch that writes it on the Job of this uid.
std::string encode_progress_patch(const Uid& job, const ProgressNote& note);

}  // namespace slackline::wire

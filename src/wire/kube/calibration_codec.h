// A calibration run as a Job: the copy of another Job's template in one shape
// (docs/CALIBRATION.md).
#pragma once

#include <string>
#include <string_view>

#include "slackline/base/result.h"
#include "slackline/model/calibration_order.h"

namespace slackline::wire {

// `job_json`: the Job `order.from` as the API server has it. The copy keeps the template: image,
// command, volumes, ServiceAccount, tolerations. It begins suspended by Slackline, never runs twice
// and is deleted by its ttl. kInvalidArgument: not a Job with the container that asks for GPUs;
// kConflict: it is another Job of that name.
Result<std::string> encode_calibration_job(std::string_view job_json,
                                           const CalibrationOrder& order);

}  // namespace slackline::wire

// Decodes finished tasks as REST answers them (rows.h shows them).
#pragma once

#include <string_view>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/model/finished_task.h"

namespace slackline::wire {

// {"items": [...]} of GET /v1/history. Times are to the second. kInvalidArgument names the field.
Result<std::vector<FinishedTask>> read_finished_tasks(std::string_view json);

}  // namespace slackline::wire

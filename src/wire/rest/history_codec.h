// The history of REST, as JSON and as tables.
#pragma once

#include <vector>

#include "slackline/model/finished_task.h"
#include "wire/format/json_writer.h"
#include "wire/format/text_table.h"

namespace slackline::wire {

void encode(JsonWriter& out, const FinishedTask& task);

// The short table, and the wide one with all columns.
TextTable table_of(const std::vector<FinishedTask>& tasks);
TextTable wide_table_of(const std::vector<FinishedTask>& tasks);

}  // namespace slackline::wire

// The queue of REST, as JSON and as tables.
#pragma once

#include <vector>

#include "slackline/model/queue_view.h"
#include "wire/format/json_writer.h"
#include "wire/format/text_table.h"

namespace slackline::wire {

void encode(JsonWriter& out, const QueueRow& row);

// The short table, and the wide one with all columns, at `now_s` (epoch seconds).
TextTable table_of(const std::vector<QueueRow>& rows);
TextTable wide_table_of(const std::vector<QueueRow>& rows, double now_s);

}  // namespace slackline::wire

// The queue of REST, as JSON and as a table.
#pragma once

#include <string>
#include <vector>

#include "slackline/model/queue_view.h"
#include "wire/json_writer.h"

namespace slackline::wire {

void encode(JsonWriter& out, const QueueRow& row);
std::string text_of(const std::vector<QueueRow>& rows);

}  // namespace slackline::wire

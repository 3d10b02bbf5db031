// v1 Event: what happened to a task, for `kubectl describe`.
#pragma once

#include <string>

#include "message/task_event.h"

namespace slackline::wire {

// One for each object and reason: OBJECT.HASH, at most 253 characters.
std::string event_name(const TaskEvent& event);

// POST to the object's namespace.
std::string encode_event(const TaskEvent& event);
// PATCH (merge) of an existing Event: count, last time, message.
std::string encode_event_update(const TaskEvent& event);

}  // namespace slackline::wire

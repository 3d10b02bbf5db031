// v1 Event: what happened to a task, for `kubectl describe`.
#pragma once

#include <string>

#include "message/task_event.h"

namespace slackline::wire {

// One for each object and reason: OBJECT.HASH, at most 253 characters.
std::string event_name(const TaskEvent& event);

// Where the Event is: in the object's namespace, or in that for objects that have none.
std::string event_namespace(const TaskEvent& event);
// POST to that namespace.
std::string encode_event(const TaskEvent& event);
// PATCH (merge) of an existing Event: type, message, count, last time.
std::string encode_event_update(const TaskEvent& event);
// PATCH (JSON patch) of the Job, while it is suspended: its message as the annotation `forecast`.
std::string encode_forecast_patch(const TaskEvent& event);

}  // namespace slackline::wire

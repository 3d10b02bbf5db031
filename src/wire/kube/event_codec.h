// v1 Event: what happened to a task, for `kubectl describe`.
#pragma once

#include <string>

#include "slackline/model/ids.h"

namespace slackline::wire {

struct EventDto {
  std::string kind;  // of the object: "Job" or "Pod"
  ObjectKey object;
  Uid uid;
  std::string reason;
  std::string message;
  bool warning = false;
  int count = 1;
  double first_s = 0;  // epoch seconds
  double last_s = 0;
};

// One for each object and reason: OBJECT.HASH, at most 253 characters.
std::string event_name(const EventDto& event);

// POST to the object's namespace.
std::string encode_event(const EventDto& event);
// PATCH (merge) of an existing Event: count, last time, message.
std::string encode_event_update(const EventDto& event);

}  // namespace slackline::wire

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
  double time_s = 0;  // epoch seconds
};

// POST to the object's namespace; the server makes up the name.
std::string encode_event(const EventDto& event);

}  // namespace slackline::wire

// TaskEvent: an Event of a task, for `kubectl describe`.
#pragma once

#include <string>

#include "slackline/model/ids.h"

namespace slackline {

struct TaskEvent {
  std::string kind;  // "Job", "Pod", "Node" or that of a gang's controller
  ObjectKey object;  // of a node without a namespace
  Uid uid;
  std::string reason;  // a code of model/reason.h
  std::string message;
  bool warning = false;
  bool is_forecast = false;  // of a Job: the message is kept in its annotation `forecast`, too
  // How often this was reported for the object, and since when (epoch seconds): the same reason on
  // the same object is one Event with a count.
  int count = 1;
  double first_s = 0;
  double last_s = 0;
  std::string api_version{};  // of a gang's controller; empty: of the other kinds
};

}  // namespace slackline

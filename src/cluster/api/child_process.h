// Runs another program and takes what it prints, within limits. Private to this layer.
//
// The program gets no shell, no signal that is blocked or ignored here, and our stderr. It is
// killed when its time is over, when it prints too much, or when the caller is stopped; unless it
// talks to a person, with everything it has started.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "slackline/base/result.h"
#include "slackline/base/stop.h"

namespace slackline::cluster {

struct ChildCommand {
  std::string program;  // a path, or a name that is looked for in PATH
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // "NAME=value"; all of it
  bool interactive = false;              // it gets our stdin; else an empty one
  double time_s = 0;
  std::size_t max_output = 0;  // bytes
};

// Its stdout. kNotFound: there is no such program. kTimeout, kResourceExhausted: the limits.
// kUnavailable: it failed, or `stop` asked.
Result<std::string> run_child(const ChildCommand& command, const StopAsked& stop);

}  // namespace slackline::cluster

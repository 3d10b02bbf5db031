// watch: repeats a request and shows each answer, until Ctrl-C.
#pragma once

#include <functional>
#include <string>

#include "slackline/base/result.h"

namespace slackline::cli {

struct WatchOptions {
  std::string title;   // the title, with the time
  std::string output;  // "table", "wide", "csv", "json" or "yaml"
  double interval_s = 2;
};

// A terminal is redrawn, and cut at its height; anything else gets one block after another: tables
// under a line with the time, YAML as documents, JSON a line each, CSV after an empty line. It
// waits for a daemon that cannot be reached, but not at the first call. Returns the exit code.
int watch(const WatchOptions& options, const std::function<Result<std::string>()>& ask);

}  // namespace slackline::cli

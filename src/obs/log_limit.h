// LogLimit: lines that strangers can cause, at most so many in a period.
//
//   if (const auto left_out = limit_.admit(system_clock().steady_s()))
//     log_warning("bad_request", {{"error", text}, {"left_out", *left_out}});
//
// Thread-safe. What is left out is counted, and told by the next line that is let through; a metric
// beside it counts them all.
#pragma once

#include <cstdint>
#include <optional>

#include "slackline/base/mutex.h"

namespace slackline::obs {

class LogLimit {
 public:
  explicit LogLimit(int lines = 10, double period_s = 10) : lines_(lines), period_s_(period_s) {}

  // How many were left out since the last line; nothing: leave this one out too.
  std::optional<std::int64_t> admit(double now_s);

 private:
  const int lines_;
  const double period_s_;
  Mutex mutex_;
  double began_s_ SLACKLINE_GUARDED_BY(mutex_) = -1e18;
  int written_ SLACKLINE_GUARDED_BY(mutex_) = 0;
  std::int64_t left_out_ SLACKLINE_GUARDED_BY(mutex_) = 0;
};

}  // namespace slackline::obs

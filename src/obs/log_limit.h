// LogLimit: limits the rate of log lines that strangers can cause.
//
//   if (const auto left_out = limit_.admit(system_clock().steady_s()))
//     log_warning("bad_request", {{"error", text}, {"left_out", *left_out}});
//
// Thread-safe. Lines left out are counted, and the next line that passes reports their number; a
// metric counts all of them.
#pragma once

#include <cstdint>
#include <optional>

#include "slackline/base/mutex.h"

namespace slackline::obs {

class LogLimit {
 public:
  explicit LogLimit(int lines = 10, double period_s = 10) : lines_(lines), period_s_(period_s) {}

  // The number of lines left out since the last one; nullopt: leave this one out, too.
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

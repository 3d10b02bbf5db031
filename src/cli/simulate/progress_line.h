// A line on the terminal about what takes longer than two seconds.
#pragma once

#include <cstdio>
#include <string>

#include <unistd.h>

#include "slackline/base/clock.h"

namespace slackline::cli {

class ProgressLine {
 public:
  ProgressLine() = default;
  ~ProgressLine() {
    if (shown_) std::fputs("\r\033[K", stderr);
  }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& text) {
    if (!terminal_ || system_clock().steady_s() - started_s_ < 2) return;
    shown_ = true;
    std::fprintf(stderr, "\r\033[K%s", text.c_str());
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  bool shown_ = false;
  double started_s_ = system_clock().steady_s();
};

}  // namespace slackline::cli

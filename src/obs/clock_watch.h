// ClockWatch: counts jumps of the wall clock (slackline_clock_jumps_total) and logs each.
//
// Nothing that decides depends on the wall clock but deadlines, which are dates; a jump explains
// why those look odd. What NTP slews is no jump; a machine that was suspended is one.
//
// Thread-safety: start() once; the destructor ends its thread.
#pragma once

#include "obs/metrics.h"
#include "slackline/base/clock.h"
#include "slackline/base/worker.h"

namespace slackline::obs {

class ClockWatch {
 public:
  // Both outlive it.
  explicit ClockWatch(MetricsRegistry& metrics, const Clock& clock = system_clock());

  void start();

  // One look, as the thread takes it each second. Returns how far the wall clock has jumped since
  // the last look, in seconds; 0: it has not.
  double look();

 private:
  double offset_s() const { return clock_.wall_s() - clock_.steady_s(); }

  const Clock& clock_;
  Counter jumps_;
  double offset_s_;
  Worker worker_;  // last: its thread ends first
};

}  // namespace slackline::obs

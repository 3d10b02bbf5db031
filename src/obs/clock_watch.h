// ClockWatch: counts jumps of the wall clock (slackline_clock_jumps_total) and logs each.
//
// No decision depends on the wall clock except by deadlines, which are dates; a jump explains why
// those look odd. NTP slewing is not a jump; a suspended machine is.
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

  // One check; the thread makes one each second. Returns how far the wall clock has jumped since
  // the last check, in seconds.
  double look();

 private:
  double offset_s() const { return clock_.wall_s() - clock_.steady_s(); }

  const Clock& clock_;
  Counter jumps_;
  double offset_s_;
  Worker worker_;  // last: its thread ends first
};

}  // namespace slackline::obs

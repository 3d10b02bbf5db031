// The seam to time. The core never reads a clock: its callers pass `now`.
#pragma once

namespace slackline {

class Clock {
 public:
  virtual ~Clock() = default;
  // Seconds since the epoch; may jump. For deadlines and for times that people read.
  virtual double wall_s() const = 0;
  // Seconds since an arbitrary start; never jumps. For timeouts, ages and holds.
  virtual double steady_s() const = 0;
};

// The machine's clocks. Thread-safe; lives forever.
const Clock& system_clock();

}  // namespace slackline

// The seam to time. The core never reads a clock: it is given `now`.
#pragma once

namespace slackline {

class Clock {
 public:
  virtual ~Clock() = default;
  // Seconds since the epoch; may jump. For deadlines and what people read.
  virtual double wall_s() const = 0;
  // Seconds since an arbitrary start; never jumps. For timeouts, ages and holds.
  virtual double steady_s() const = 0;
};

// The machine's clocks. Thread-safe, lives for ever.
const Clock& system_clock();

}  // namespace slackline

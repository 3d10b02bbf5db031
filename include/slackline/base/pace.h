// Pace: how soon a thread repeats its work, by what the work took. Over time the thread takes at
// most its share of a core. It saves the share that it does not use, up to a limit, and may spend
// it without waiting: after a quiet moment it follows single changes at once, and a flood of them
// in turns that each serve many. After a turn so long that its share would keep it waiting, it
// waits a bearable time and no longer.
//
// Pure. Not thread-safe.
#pragma once

namespace slackline {

struct PaceLimits {
  double share = 0;         // of a core, above 0
  double most_saved_s = 0;  // of work
  double most_rest_s = 0;
};

class Pace {
 public:
  // Begins with the most that can be saved.
  explicit Pace(const PaceLimits& limits) : limits_(limits), saved_s_(limits.most_saved_s) {}

  // Work was done between two moments of one clock, which never goes back. Returns the earliest
  // time to begin again.
  double worked(double began_s, double ended_s);

 private:
  PaceLimits limits_;
  double saved_s_;      // below 0: debt
  double since_s_ = 0;  // when saved_s_ was last updated
};

}  // namespace slackline

// Pace: how soon a thread repeats its work, by what the work took. Over time it takes at most its
// share of a core. What it leaves is saved, up to a limit, and is spent without waiting: after a
// quiet moment one change after the other is followed at once, a flood of them in turns that each
// serve many. Where one turn takes so long that its share would keep it waiting, it waits as long
// as is bearable and no longer.
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
  // Begins with all that can be saved.
  explicit Pace(const PaceLimits& limits) : limits_(limits), saved_s_(limits.most_saved_s) {}

  // Something was done between two moments of one clock, which never goes back; returns when to
  // begin again at the earliest.
  double worked(double began_s, double ended_s);

 private:
  PaceLimits limits_;
  double saved_s_;      // below 0: owed
  double since_s_ = 0;  // when it was
};

}  // namespace slackline

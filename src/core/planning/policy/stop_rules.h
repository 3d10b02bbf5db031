// Which runs may be stopped for another task. Private to src/core.
#pragma once

#include <map>

#include "slackline/core/planning/plan_state.h"
#include "slackline/model/spared.h"

namespace slackline::core {

struct StopRules {
  double protect_s = 600;   // after a start; 60 s against an urgent asker
  int most_stops = 3;       // of one task
  bool spare_ends = false;  // nor within protect_s of the end, unless that was near for so long
  bool learn = false;       // ends are as the run shows, not as predicted
};

// Of this rule, against an urgent asker or another one.
double protect_s(const StopRules& rules, bool urgent);
// kNo: it may be stopped. The whole rule but for what depends on the asker besides that.
Spared spared_by(const PlanState& state, TaskIndex run, double now_s, const StopRules& rules,
                 bool urgent);
inline bool may_stop(const PlanState& state, TaskIndex run, double now_s, const StopRules& rules,
                     bool urgent) {
  return spared_by(state, run, now_s, rules, urgent) == Spared::kNo;
}

// Not of a queue that uses no more than it owns, for somebody of another queue who would use more:
// it would ask back at once.
bool spares_owners(const PlanState& state, TaskIndex run, TaskIndex asker, const Choice& wanted);

// What it would have held in vain, if the whole task takes work_s there.
double wasted_if_stopped_gpu_s(const PlanState& state, TaskIndex run, double work_s, double now_s);

// Whether a run that is told now has ended once somebody has waited for so long, and its pods end
// within most_grace_s, where that counts (spare_limit_s).
bool ends_in_time(const PlanTask& run, double wait_s, double most_grace_s);
// What the limit of a run leaves that takes lat_s: whoever is stopped for it ends within that time,
// which counts from the stop.
inline double spare_limit_s(const PlanTask& asker, double lat_s) {
  return asker.limit_s - lat_s;
}

// Of runs that stop together, what they take of disruption budgets.
class TakenDisruptions {
 public:
  // False, and nothing is taken: it may not stop with those before. `overdue`: only those that are
  // not obey the budgets, besides all others.
  bool add(const PlanTask& run, bool overdue = false);

 private:
  struct Taken {
    std::int64_t pods = 0;
    bool obeyed = false;
  };
  std::map<std::size_t, Taken> of_budget_;
};

}  // namespace slackline::core

#include "control/plan/unled.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "slackline/base/text.h"

namespace slackline::control {

std::string unled_text(const core::HeldBack& held) {
  if (!held.any()) return "";
  return format(
      "{} Jobs and {} pods wait for Slackline, and no planner runs: start Slackline in active "
      "mode, or release them with `slackline release`",
      held.jobs, held.pods);
}

Result<bool> wait_until_unled(const LeaseLook& look, const LeaseVigil& vigil, const Clock& clock) {
  SLACKLINE_ASSIGN(const cluster::LeaseSight first, look());
  double seen_s = clock.steady_s();
  for (Result<cluster::LeaseSight> sight = first;; sight = look()) {
    if (!sight && clock.steady_s() >= seen_s + vigil.patience_s) return fail(sight.error());
    if (sight) {
      seen_s = clock.steady_s();
      if (sight->changed) return false;
      if (sight->unchanged_s >= std::max(vigil.limit_s, sight->duration_s)) return true;
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(vigil.look_every_s));
  }
}

}  // namespace slackline::control

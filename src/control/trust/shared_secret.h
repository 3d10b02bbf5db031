// What the keepers of Secrets that all replicas share do alike: how often they look, and how they
// agree without a leader.
#pragma once

#include <algorithm>

#include "slackline/base/result.h"

namespace slackline::control {

// For something that is renewed after `life_s`: twenty seconds, less for short lives. Until the
// next look nobody trusts a webhook whose authorities somebody took out of its configuration.
inline double look_every_s(double life_s) {
  return std::clamp(life_s / 20, 0.5, 20.0);
}

// `attempt` reads what is shared and, where it must, writes it with a precondition. It is
// repeated while another replica was faster (kConflict), three times in all.
template <class Attempt>
auto agree(const Attempt& attempt) -> decltype(attempt()) {
  constexpr int kTries = 3;
  for (int tries = 1;; ++tries) {
    auto agreed = attempt();
    if (agreed || agreed.error().code != ErrorCode::kConflict || tries == kTries) return agreed;
  }
}

}  // namespace slackline::control

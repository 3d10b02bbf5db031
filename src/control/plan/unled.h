// What is to be done and said while nobody leads.
#pragma once

#include <functional>
#include <string>

#include "cluster/lease/lease_sight.h"
#include "slackline/base/clock.h"
#include "slackline/base/result.h"
#include "slackline/core/handover/return_to_scheduler.h"

namespace slackline::control {

using LeaseLook = std::function<Result<cluster::LeaseSight>()>;

// For people: what waits while nobody leads, and what to do about it; empty where nothing waits.
std::string unled_text(const core::HeldBack& held);

struct LeaseVigil {
  double limit_s = 0;       // and not less than the Lease's own duration
  double look_every_s = 1;  // less than cluster::LeaseWatch::kMaxGap_s
  // Of looks that fail, after which it is given up; the first one must succeed.
  double patience_s = 60;
};

// Watches the Lease until it has not changed for the limit (true: nobody leads), or does change
// (false: somebody does). Blocks so long.
Result<bool> wait_until_unled(const LeaseLook& look, const LeaseVigil& vigil,
                              const Clock& clock = system_clock());

}  // namespace slackline::control

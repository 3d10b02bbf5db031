// What a policy spares: a run of a plan that it does not stop for others.
#pragma once

#include "slackline/core/planning/plan_state.h"
#include "slackline/core/planning/policy.h"
#include "slackline/model/spared.h"

namespace slackline::core {

// Of a run. By the rules by which the policies choose whom to stop, for an asker that is not
// urgent; one that is urgent waits for no more than 60 s of `protect`. What depends on the asker is
// not among them: whether it gains by the stop, what its queue may make others lose or whether it
// is barred, the notice that the run is given, the deadline of the run, shares, and to whom the run
// is promised. Nor is giving back what a queue borrowed (docs/decisions/0048-owners-ask-back.md).
Spared spared_by(const Policy& policy, const PlanState& state, TaskIndex run, double now_s);

}  // namespace slackline::core

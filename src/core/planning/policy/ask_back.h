// Giving back: a task that fits into what its queue owns does not wait for runs that use it beyond
// what their own queues own. Before a policy serves, whoever they keep out has them stopped and
// starts, under every policy, also under those that stop nobody (002, private before public); and
// once more after it, for who lacks room then.
//
// Nor does it lose to somebody who would use more than his queue owns what it fits into now: he
// would only be stopped for it later. Where the policy starts such a one in its place, the policy
// serves once more, and it starts before (plan()). Nothing is held for that: who does not fit, or
// is not hurt, changes nothing.
//
//   asks      urgent ones first, then by deadline and submit time; a task that fits, does not ask
//   gives     a run of another queue that is not its queue's own alone (share_parts.h), is not of
//             those that stay (PlanState::stays), and whose queue uses more than it owns. First by
//             use: borrowed before pool, low portrait levels before high ones; then by the
//             GPU time that the stop wastes
//   protects  `protect` of the policy after a start and before an end, and disruption budgets, but
//             nothing for longer than the queue's giveBackWithin, counted from when the task and
//             the run were both there. Neither the budget of preemption nor the number of stops
//             counts
//
// Who gave back, has a deadline and can still meet it in the room that is left goes on there at
// once.
//
// While nothing can be stopped yet, nobody else gets more of that GPU type than he owns, and the
// plan is made again when the first of them may be stopped. Private to src/core.
#pragma once

#include <vector>

#include "planning.h"

namespace slackline::core {

// Some queue of the state owns GPUs: else nobody gives anything back.
bool has_owners(const PlanState& state);
// Before anybody asks, those of `first` that fit start.
void ask_back(Planning& planning, const Policy& policy, const std::vector<TaskIndex>& first = {});
// Who waits and fits now into what his queue owns, while somebody of another queue waits who would
// use more of it than his does. A few, as they ask.
std::vector<TaskIndex> owners_at_risk(Planning& planning, const Policy& policy);
// Those of them who have no room now, because of whom this plan has started so.
std::vector<TaskIndex> pushed_out(Planning& planning, const Policy& policy,
                                  const std::vector<TaskIndex>& owners);

}  // namespace slackline::core

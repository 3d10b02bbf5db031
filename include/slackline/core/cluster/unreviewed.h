// Jobs that a webhook of Slackline should have queued and has not seen: they start without waiting
// their turn, and nothing else shows it. With failurePolicy Ignore the API server goes on where no
// webhook can be reached.
#pragma once

#include <vector>

#include "slackline/model/snapshot.h"

namespace slackline::core {

// An API server learns late that a namespace is managed, and that a webhook is there.
inline constexpr double kReviewsBegin_s = 5;

// Those of managed namespaces that are not over and were created while reviews could be expected:
// kReviewsBegin_s after `since_wall_s` and after their namespace was first seen to be managed.
// Pure; epoch seconds. O(jobs).
std::vector<JobPtr> unreviewed_jobs(const ClusterSnapshot& snapshot, double since_wall_s);

}  // namespace slackline::core

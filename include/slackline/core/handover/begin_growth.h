// begin_growth: the stop of a run that gets its shape back (core/cluster/growth.h). It is released
// in it once its pods are gone (Queue::going_on). Pure; times are epoch seconds.
#pragma once

#include <vector>

#include "slackline/core/cluster/growth.h"
#include "slackline/model/own_write.h"

namespace slackline::core {

// At most one write. After a plan that stops nobody: `queue` as that plan left it.
std::vector<OwnWrite> begin_growth(const ClusterSnapshot& snapshot, const QueueOptions& options,
                                   const Queue& queue, const Policy& policy);

}  // namespace slackline::core

// The situation in which the daemon decides now (core/cluster/situation.h): made here only.
#pragma once

#include "cluster/watch/source.h"
#include "control/learn/known.h"
#include "slackline/base/clock.h"
#include "slackline/base/result.h"
#include "slackline/core/cluster/situation.h"

namespace slackline::control {

// `catalog` outlives the decision.
core::Situation situation_of(const GpuCatalog& catalog, double theta, const Known& known,
                             const cluster::ClusterSource& source, const Clock& clock);

// kUnavailable before the cluster was listed once: nobody can tell then what is in it.
Status cluster_is_read(const ClusterSnapshot& snapshot);

}  // namespace slackline::control

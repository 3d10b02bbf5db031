// release_all: gives every task of ours back to the stock path, for the day when no planner is left
// (`slackline release`), or active mode is turned off.
//
// Works on a source of its own until nothing has been left to do for kQuiet_s: pods of Jobs that
// were unsuspended may appear gated.
#pragma once

#include "cluster/source.h"
#include "obs/metrics.h"
#include "slackline/base/clock.h"
#include "slackline/base/result.h"

namespace slackline::control {

inline constexpr double kQuiet_s = 2;

struct Released {
  std::size_t jobs = 0;
  std::size_t pods = 0;
};

// `source` is started. kTimeout: not synced, or not done, in time; to be run again.
Result<Released> release_all(const cluster::ClusterSource& source, cluster::ClusterWriter& writer,
                             obs::MetricsRegistry& metrics, const Clock& clock, double timeout_s);

}  // namespace slackline::control

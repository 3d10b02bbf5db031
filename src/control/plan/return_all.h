// return_all: returns every task that Slackline holds back to the stock scheduler, when no planner
// is left (`slackline release`) or active mode is turned off.
//
// Reads the cluster from a source of its own, and ends when there was nothing to do for kQuiet_s:
// pods of Jobs that were unsuspended may appear gated.
#pragma once

#include <functional>
#include <vector>

#include "cluster/watch/source.h"
#include "obs/metrics.h"
#include "slackline/base/clock.h"
#include "slackline/base/result.h"

namespace slackline::control {

inline constexpr double kQuiet_s = 2;

struct Released {
  std::size_t jobs = 0;
  std::size_t pods = 0;
};

// The writes that would begin it, none of which is made. kUnavailable: not synced in time.
Result<std::vector<OwnWrite>> find_held_back(const cluster::ClusterSource& source,
                                             const Clock& clock, double timeout_s);

// What is to be written now, and what still changes without a write of ours.
struct ReturnRound {
  std::vector<OwnWrite> writes{};
  std::size_t under_way = 0;
};
using DecideReturn = std::function<ReturnRound(const ClusterSnapshot&)>;

// core::return_to_scheduler().
ReturnRound return_as_stock(const ClusterSnapshot& snapshot);

// `source` is started. kUnavailable: not synced in time; kTimeout: not done; to be run again.
Result<Released> return_all(const cluster::ClusterSource& source, cluster::ClusterWriter& writer,
                            obs::MetricsRegistry& metrics, const Clock& clock, double timeout_s,
                            const DecideReturn& decide = return_as_stock);

}  // namespace slackline::control

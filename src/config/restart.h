// Which changes of a configuration a running daemon cannot take.
#pragma once

#include <string>
#include <vector>

#include "config/configuration.h"

namespace slackline::config {

// The keys in which `now` differs from what the daemon was started with and that only a restart
// applies, as they are written ("listeners.api"), in the order of the reference file. Everything
// else takes effect at once: scoring, queue, queues, webhook.schedulerName and .serviceAccount,
// planner.policy, planner.slowAfter, calibration, log.level.
std::vector<std::string> needs_restart(const Configuration& started, const Configuration& now);

}  // namespace slackline::config

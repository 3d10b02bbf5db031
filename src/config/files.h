// Findings about the files that a configuration names, as they are on this machine.
#pragma once

#include <string>
#include <string_view>

#include "config/configuration.h"
#include "config/finding.h"

namespace slackline::config {

// Keys of `tls` that others on this machine may read.
Findings check_key_files(const Configuration& configuration);

// These, and before them the files of `tls` that cannot be read here: warnings, for the
// configuration may be meant for another machine.
Findings check_files(const Configuration& configuration);

// Certificate files that a KubeSchedulerConfiguration names and that are not here: where
// kube-scheduler runs, it would not start. A text that is no such configuration has none.
Findings check_scheduler_files(std::string_view text);

}  // namespace slackline::config

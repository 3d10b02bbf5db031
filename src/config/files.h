// Findings about the files that a configuration names, as they are on this machine.
#pragma once

#include <string>
#include <string_view>

#include "config/configuration.h"
#include "config/finding.h"

namespace slackline::config {

// Finds keys of `tls` that others on this machine may read.
Findings check_key_files(const Configuration& configuration);

// Finds these, and before them the files of `tls` that cannot be read here: warnings, because the
// configuration may be meant for another machine.
Findings check_files(const Configuration& configuration);

// Certificate files that a KubeSchedulerConfiguration names and that are not here: where
// kube-scheduler runs, it would not start. A text that is not such a configuration has none.
Findings check_scheduler_files(std::string_view text);

}  // namespace slackline::config

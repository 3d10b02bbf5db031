// check_settings: settings that do not go together, as warnings without a line.
#pragma once

#include "config/finding.h"
#include "control/state/settings.h"

namespace slackline::control {

config::Findings check_settings(const Settings& settings);

}  // namespace slackline::control

// check_settings: settings that do not go together, and shares of GPU types that nobody knows, as
// warnings without a line.
#pragma once

#include "config/finding.h"
#include "control/state/settings.h"
#include "slackline/model/gpu_catalog.h"

namespace slackline::control {

config::Findings check_settings(const Settings& settings, const GpuCatalog& catalog);

}  // namespace slackline::control

// The part `telemetry` of a configuration (docs/TELEMETRY.md).
#pragma once

#include "config/section.h"
#include "message/telemetry_settings.h"

namespace slackline::config {

void read_telemetry(Section& section, TelemetrySettings& telemetry);

}  // namespace slackline::config

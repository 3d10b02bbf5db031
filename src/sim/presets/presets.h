// The presets that there are; private to src/sim/presets.
#pragma once

#include "sim/presets/preset.h"

namespace slackline::sim {

extern const Preset kSharingPreset;

}  // namespace slackline::sim

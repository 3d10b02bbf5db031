#include "sim/presets/preset.h"
#include "sim/presets/presets.h"

namespace slackline::sim {

std::span<const Preset* const> presets() {
  static constexpr const Preset* kAll[] = {
      &kSharingPreset,
  };
  return kAll;
}

}  // namespace slackline::sim
